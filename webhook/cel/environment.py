"""What an expression may use, as the CEL library's checker wants it declared: types, operators, functions.

Three things are declared differently from the library's own standard environment. The comparisons
take numbers of different types, as in Kubernetes; the functions are those of Kubernetes
(`functions.LIBRARIES`), without implementations; `request` and `namespaceObject` are messages, so
that a field which they do not have is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from itertools import product
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from cel_expr_python import cel
from cel_expr_python.ext import ext_optional

from webhook.cel.functions import LIBRARIES, Function, Overload, conversions, optionals, strings
from webhook.cel.messages import pool

if TYPE_CHECKING:
    from google.protobuf.descriptor_pool import DescriptorPool

_NUMBERS: Final = ("int", "uint", "double")
_ORDERED: Final = ("bool", "string", "bytes", "timestamp", "duration")
_KEPT: Final = frozenset({*_NUMBERS, *_ORDERED, "null_type"})
_NESTED: Final = 10
"""How many levels of parameters the type of a variable may have (the library takes 13)."""
_COMPARISONS: Final = ("_<_", "_<=_", "_>_", "_>=_")
_DECLARED: Final = [function for library in LIBRARIES for function in library.functions if function.overloads]
_PLAIN: Final = (*conversions.LIBRARIES, *optionals.LIBRARIES, *strings.LIBRARIES)
_SPECIAL: Final = [one for one in _DECLARED if not any(one in library.functions for library in _PLAIN)]
_SPECIAL_CALL: Final = re.compile(rf"\b(?:{'|'.join(re.escape(one.name.rpartition('.')[2]) for one in _SPECIAL)})\s*\(")


def environment(
    variables: Mapping[str, str] = MappingProxyType({}),
    structures: Mapping[str, Iterable[str]] = MappingProxyType({}),
    *,
    plain: bool = False,
) -> cel.Env:
    """Give an environment that knows these variables (name → CEL type).

    `structures` are message names an expression writes, with the fields it gives them: every field
    is dyn, as in Kubernetes' own resolver of `Object` types. One for `plain` expressions, see `is_plain`, is
    made in half the time: what costs is the number of functions.
    """
    fields = tuple((name, tuple(sorted(names))) for name, names in sorted(structures.items()))
    return _environment(tuple(variables.items()), fields, plain)


def is_plain(text: str) -> bool:
    """Does an expression call none but the functions that most do."""
    return not _SPECIAL_CALL.search(text)


@lru_cache(maxsize=64)
def _environment(
    variables: tuple[tuple[str, str], ...], structures: tuple[tuple[str, tuple[str, ...]], ...], plain: bool
) -> cel.Env:
    return cel.NewEnv(
        descriptor_pool=_pool(structures),
        config=_config(plain),
        extensions=[ext_optional.ExtOptional()],
        variables={name: library_type(type_) for name, type_ in variables},
    )


@lru_cache(maxsize=64)
def _pool(structures: tuple[tuple[str, tuple[str, ...]], ...]) -> DescriptorPool:
    return pool({name: dict.fromkeys(fields, "dyn") for name, fields in structures})


@cache
def library_type(text: str) -> cel.Type:
    """Give the library's form of a type written as CEL does: `map(string, list(dyn))`.

    An optional, and a type as a value, are dyn: the library's Python interface mangles the names of such types. So
    is what lies deeper in a type than the library takes in a declaration.
    """
    name, parameters = _parts(text) if text.count("(") < _NESTED else ("dyn", [])
    types = list(map(library_type, parameters))
    match name:
        case "list" if types:
            return cel.Type.List(*types)
        case "map" if types:
            return cel.Type.Map(*types)
        case _:
            return cel.Type.DYN if types else cel.Type(name)


def variable_type(text: str) -> str:
    """Give the type that readers of a variable see: Kubernetes keeps CEL's own types, and takes any other for dyn."""
    name, parameters = _parts(text)
    if name in ("list", "map"):
        return f"{name}({', '.join(map(variable_type, parameters))})"
    return name if name in _KEPT else "dyn"


def _parts(text: str) -> tuple[str, list[str]]:
    """Split `map(string, list(dyn))`, or the same in angle brackets, into its name and its parameters."""
    name, *rest = re.split(r"[(<]", text, maxsplit=1)
    parameters, depth = [""], 0
    for character in rest[0][:-1] if rest else "":
        depth += (character in "(<") - (character in ")>")
        if character == "," and not depth:
            parameters.append("")
        else:
            parameters[-1] += character
    return name, [parameter.strip() for parameter in parameters if parameter]


@cache
def _config(plain: bool) -> cel.EnvConfig:
    """Declare the functions. The library reads YAML, of which JSON is a part."""
    replaced = [{"name": name} for name in (*_COMPARISONS, *(function.name for function in _DECLARED))]
    declared = [function for function in _DECLARED if not (plain and function in _SPECIAL)]
    functions = [*map(_comparison, _COMPARISONS), *map(_function, declared)]
    return cel.NewEnvConfigFromYaml(
        json.dumps(
            {
                "extensions": [{"name": "two-var-comprehensions"}],
                "stdlib": {"exclude_functions": replaced},
                "functions": functions,
            }
        )
    )


def _comparison(operator: str) -> dict[str, Any]:
    pairs = [*product(_NUMBERS, _NUMBERS), *((type_, type_) for type_ in _ORDERED)]
    return {
        "name": operator,
        "overloads": [
            {"id": f"{operator}{a}_{b}", "args": [_spec(a), _spec(b)], "return": _spec("bool")} for a, b in pairs
        ],
    }


def _function(function: Function) -> dict[str, Any]:
    return {
        "name": function.name,
        "overloads": [_overload(function.name, number, overload) for number, overload in enumerate(function.overloads)],
    }


def _overload(name: str, number: int, overload: Overload) -> dict[str, Any]:
    types = list(map(_spec, overload.parameters))
    target = {"target": types.pop(0)} if overload.receiver else {}
    return {"id": f"{name}_{number}", **target, "args": types, "return": _spec(overload.result)}


def _spec(text: str) -> dict[str, Any]:
    """Give a type, written `map<string, ~A>`, as the library's configuration writes it."""
    name, parameters = _parts(text)
    if name.startswith("~"):
        return {"type_name": name[1:], "is_type_param": True}
    return {"type_name": name, "params": list(map(_spec, parameters))}
