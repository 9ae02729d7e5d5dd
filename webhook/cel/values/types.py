"""CEL's types, and which Python type stands for which.

JSON as parsed is CEL as it is, so that nothing has to be converted before an expression reads an
object: `int`, `float` (double), `bool`, `str`, `bytes`, `None` (null), `list`, `dict` (map). The
types that Python lacks are classes that name their CEL type with `cel_type`: `Uint`, `Timestamp`,
`Duration`, `Optional`, `CelType` itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from webhook.cel.errors import CelError

_Class = TypeVar("_Class", bound=type)


@dataclass(frozen=True, slots=True)
class CelType:
    """A type as a value: what `type(x)` gives and what the name `int` stands for."""

    name: str


_TYPES: Final[dict[type, CelType]] = {
    int: CelType("int"),
    float: CelType("double"),
    bool: CelType("bool"),
    str: CelType("string"),
    bytes: CelType("bytes"),
    type(None): CelType("null_type"),
    list: CelType("list"),
    dict: CelType("map"),
    CelType: CelType("type"),
}


_CLASSES: Final[dict[str, type]] = {type_.name: cls for cls, type_ in _TYPES.items()}


def cel_type(name: str) -> Callable[[_Class], _Class]:
    """Declare which CEL type the instances of a class have."""

    def declare(cls: _Class) -> _Class:
        _TYPES[cls] = CelType(name)
        _CLASSES.setdefault(name, cls)
        return cls

    return declare


def type_of(value: Any) -> CelType:
    """The type of a value, without parameters: `list`, not `list(int)`."""
    return _TYPES[type(value)]


def class_of(name: str) -> type:
    """The Python class that most values of a type have. Raises KeyError for a type that has none."""
    return _CLASSES[name]


def no_such_overload(function: str, *arguments: Any) -> CelError:
    """The error for arguments that a function does not take: it names their types, as cel-go does."""
    return CelError(f"no such overload: {function}({', '.join(type_of(a).name for a in arguments)})")


@cel_type("uint")
class Uint(int):
    """An unsigned integer (0 to 2**64-1): the same number, and the same map key, as the int."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Uint({self})"

    def __str__(self) -> str:
        return int.__repr__(self)
