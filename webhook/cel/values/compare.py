"""Equality and order, across the number types too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from webhook.cel.errors import CelError
from webhook.cel.values.maps import MAPS, MISSING, find
from webhook.cel.values.opaque import Opaque
from webhook.cel.values.optional import Optional
from webhook.cel.values.time import Duration, Timestamp
from webhook.cel.values.types import CelType, Uint

_NUMBERS: Final = frozenset({int, Uint, float})
_SAME: Final = frozenset({str, int, bool, type(None), float, Uint, bytes, Timestamp, Duration, CelType})
_ORDERED: Final = frozenset({int, str, Uint, bool, bytes, Timestamp, Duration})


def equal(a: Any, b: Any) -> bool:
    """`a == b`: deep, numbers by value, values of different types unequal.

    Raises CelError for a value of Kubernetes' libraries on the left and one of another type on the right.
    """
    kind = type(a)
    if kind is type(b):
        if kind in _SAME:
            return bool(a == b)
        if kind is list:
            return len(a) == len(b) and _equal_elements(a, b)
        if kind is Optional:
            return _equal_optionals(a, b)
    if kind in _NUMBERS and type(b) in _NUMBERS:
        # cel-go rounds the integer to a double, so beyond 2**53 neighbours are equal
        return bool(a == b) if float not in (kind, type(b)) else float(a) == float(b)
    if kind in MAPS:
        return type(b) in MAPS and _equal_maps(a, b)
    return a.equals(b) if isinstance(a, Opaque) else False


def unequal(a: Any, b: Any) -> bool:
    """`a != b`: what cannot be compared is not equal, and no error."""
    return not is_equal(a, b)


def is_equal(a: Any, b: Any) -> bool:
    """Is `a == b` true, and no error."""
    try:
        return equal(a, b)
    except CelError:
        return False


def _is_unequal(a: Any, b: Any) -> bool:
    """Is `a == b` false, and no error."""
    try:
        return not equal(a, b)
    except CelError:
        return False


def _equal_elements(a: list[Any], b: list[Any]) -> bool:
    """Compare as cel-go does: what cannot be compared makes no difference."""
    try:
        return all(map(equal, a, b))
    except CelError:
        return not any(map(_is_unequal, a, b))


def _equal_maps(a: dict[Any, Any], b: dict[Any, Any]) -> bool:
    if len(a) != len(b):
        return False
    try:
        return _equal_entries(a, b, equal)
    except CelError:
        return _equal_entries(a, b, lambda x, y: not _is_unequal(x, y))


def _equal_entries(a: dict[Any, Any], b: dict[Any, Any], same: Callable[[Any, Any], bool]) -> bool:
    for key, value in a.items():
        other = find(b, key)
        if other is MISSING or not same(value, other):
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
