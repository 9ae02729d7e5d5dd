"""Can the API server decode an object into its Go types: yes or no, for every object that is looked at.

`conform` finds what is wrong and where; this says in a tenth of the time that nothing is. A structure becomes one
function, made when the first object has such a value.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, Final

from webhook.admission.structures import Structure, builtin
from webhook.model.request import GroupVersionKind, Object
from webhook.sources.schemas.scalars import kind_fault

Decoder = Callable[[Any], bool]

_ANY_OBJECT: Final = GroupVersionKind("", "v1", "ConfigMap")
"""All have the same metadata."""
_SMALL: Final = 1 << 31


@cache
def decoder(kind: GroupVersionKind) -> Decoder:
    """Give the function for objects of a kind. Of a custom resource, only the metadata has a Go type."""
    structure = builtin(kind)
    if structure is None:
        metadata = builtin(_ANY_OBJECT)
        return _fields(metadata, ("metadata",)) if metadata else _anything
    return _fields(structure, tuple(name for name in structure.fields if name != "status"))


def _of(structure: Structure) -> Decoder:
    if structure.is_plain_text:
        return _text
    if not structure.native or ("type" not in structure.schema and "format" not in structure.schema):
        return _anything
    match structure.schema.get("type"):
        case "object" if structure.fields:
            return _fields(structure, tuple(structure.fields))
        case "object" if isinstance(others := structure.schema.get("additionalProperties"), dict):
            return _values(structure.inner(others))
        case "object":
            return _map
        case "array":
            return _items(structure.items)
        case _:
            return _scalar(structure)


def _fields(structure: Structure, names: tuple[str, ...]) -> Decoder:
    known: dict[str, Decoder | None] = dict.fromkeys(names)

    def check(value: Any) -> bool:
        if not isinstance(value, dict):
            return value is None
        for key, inner in value.items():
            if key in known:
                decodes = known[key]
                if decodes is None:  # not made in advance: types can hold themselves
                    decodes = known[key] = _of(structure.inner(structure.fields[key]))
                if not decodes(inner):
                    return False
        return True

    return check


def _values(structure: Structure) -> Decoder:
    decodes = _of(structure)

    def check(value: Any) -> bool:
        return all(map(decodes, value.values())) if isinstance(value, dict) else value is None

    return check


def _items(structure: Structure) -> Decoder:
    made: list[Decoder] = []

    def check(value: Any) -> bool:
        if not isinstance(value, list):
            return value is None
        if not made:
            made.append(_of(structure))
        return all(map(made[0], value))

    return check


def _scalar(structure: Structure) -> Decoder:
    """Remember texts: few quantities are written very often. True is no 1 to a boolean, so only texts are."""
    schema = structure.schema
    fits = lru_cache(maxsize=256)(lambda text: not kind_fault(text, schema))

    def check(value: Any) -> bool:
        if isinstance(value, str):
            return fits(value)
        return value is None or not kind_fault(value, schema)

    def integer(value: Any) -> bool:
        return (type(value) is int and -_SMALL < value < _SMALL) or check(value)

    match schema.get("type"):
        case "boolean":
            return _boolean
        case "integer":
            return integer
        case _:
            return check


def _boolean(value: Any) -> bool:
    return isinstance(value, bool) or value is None


def _text(value: Any) -> bool:
    return isinstance(value, str) or value is None


def _map(value: Any) -> bool:
    return isinstance(value, dict) or value is None


def _anything(value: Any) -> bool:  # noqa: ARG001 - the signature of all of them
    return True


def decodes(obj: Object) -> bool:
    """Can an object be decoded, as far as Go types are concerned."""
    return decoder(GroupVersionKind.of(obj))(obj)
