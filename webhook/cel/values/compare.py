"""Equality and order, across the number types too."""

from __future__ import annotations

from typing import Any, Final

from webhook.cel.errors import CelError
from webhook.cel.values.maps import MAPS, MISSING, find
from webhook.cel.values.optional import Optional
from webhook.cel.values.time import Duration, Timestamp
from webhook.cel.values.types import CelType, Uint

_NUMBERS: Final = frozenset({int, Uint, float})
_SAME: Final = frozenset({str, int, bool, type(None), float, Uint, bytes, Timestamp, Duration, CelType})
_ORDERED: Final = frozenset({int, str, Uint, bool, bytes, Timestamp, Duration})


def equal(a: Any, b: Any) -> bool:
    """`a == b`: deep, numbers by value, values of different types unequal; never an error."""
    kind = type(a)
    if kind is type(b):
        if kind in _SAME:
            return bool(a == b)
        if kind is list:
            return len(a) == len(b) and all(map(equal, a, b))
        if kind is Optional:
            return _equal_optionals(a, b)
    if kind in _NUMBERS and type(b) in _NUMBERS:
        # cel-go rounds the integer to a double, so beyond 2**53 neighbours are equal
        return bool(a == b) if float not in (kind, type(b)) else float(a) == float(b)
    return kind in MAPS and type(b) in MAPS and _equal_maps(a, b)


def _equal_maps(a: dict[Any, Any], b: dict[Any, Any]) -> bool:
    if len(a) != len(b):
        return False
    for key, value in a.items():
        other = find(b, key)
        if other is MISSING or not equal(value, other):
            return False
    return True


def _equal_optionals(a: Optional, b: Optional) -> bool:
    if a.has_value and b.has_value:
        return equal(a.value, b.value)
    return a.has_value == b.has_value


def less(a: Any, b: Any) -> bool:
    """`a < b`: numbers across types, strings by code point, bytes, bools, timestamps, durations.

    Raises CelError for other or different types, and for NaN.
    """
    kind = type(a)
    if kind is not type(b) or kind not in _ORDERED:
        a, b = _comparable(a, b)
    return bool(a < b)


def less_equal(a: Any, b: Any) -> bool:
    """`a <= b`, as `less`."""
    kind = type(a)
    if kind is not type(b) or kind not in _ORDERED:
        a, b = _comparable(a, b)
    return bool(a <= b)


def greater(a: Any, b: Any) -> bool:
    """`a > b`, as `less`."""
    return less(b, a)


def greater_equal(a: Any, b: Any) -> bool:
    """`a >= b`, as `less`."""
    return less_equal(b, a)


def _comparable(a: Any, b: Any) -> tuple[float, float]:
    """Two numbers in a form that Python compares as cel-go does: a double turns the other into one."""
    kinds = (type(a), type(b))
    if not _NUMBERS.issuperset(kinds):
        raise CelError("no such overload")
    if float not in kinds:
        return a, b
    a, b = float(a), float(b)
    if a != a or b != b:
        raise CelError("NaN values cannot be ordered")
    return a, b
