"""Arithmetic: 64-bit integers that do not wrap, doubles by IEEE 754, spans of time, concatenation."""

from __future__ import annotations

import math
from typing import Any, Final

from webhook.cel.errors import Budget, CelError
from webhook.cel.values.time import EARLIEST, LATEST, SECOND, Duration, Timestamp
from webhook.cel.values.types import Uint

INT_MIN: Final = -(2**63)
INT_MAX: Final = 2**63 - 1
UINT_MAX: Final = 2**64 - 1


def text_cost(length: int) -> int:
    """Cost of going through so many characters or bytes: a tenth of a unit each, as in the API server."""
    return -(-length // 10)


def add(budget: Budget, a: Any, b: Any) -> Any:
    """`a + b`: numbers of one type, strings, bytes, lists, durations, a timestamp and a duration.

    What is made is paid for before it is made. Raises CelError for other types and for overflow.
    """
    kind = type(a)
    if kind is type(b):
        if kind is int:
            return _int(a + b)
        if kind is str or kind is bytes:
            budget.charge(text_cost(len(a) + len(b)))
            return a + b
        if kind is list:
            budget.charge(len(a) + len(b))
            return a + b
        if kind is float:
            return a + b
        if kind is Uint:
            return _uint(int(a) + int(b))
        if kind is Duration:
            return Duration(_int(a.nanoseconds + b.nanoseconds))
    elif kind is Timestamp and type(b) is Duration:
        return _moved(a, b.nanoseconds)
    elif kind is Duration and type(b) is Timestamp:
        return _moved(b, a.nanoseconds)
    raise CelError("no such overload")


def subtract(a: Any, b: Any) -> Any:
    """`a - b`: numbers of one type, durations, timestamps. Raises CelError as `add`."""
    kind = type(a)
    if kind is type(b):
        if kind is int:
            return _int(a - b)
        if kind is float:
            return a - b
        if kind is Uint:
            return _uint(int(a) - int(b))
        if kind is Duration or kind is Timestamp:
            return Duration(_int(a.nanoseconds - b.nanoseconds))
    elif kind is Timestamp and type(b) is Duration:
        return _moved(a, _int(-b.nanoseconds))
    raise CelError("no such overload")


def multiply(a: Any, b: Any) -> Any:
    """`a * b` of two numbers of one type. Raises CelError as `add`."""
    kind = type(a)
    if kind is type(b):
        if kind is int:
            return _int(a * b)
        if kind is float:
            return a * b
        if kind is Uint:
            return _uint(int(a) * int(b))
    raise CelError("no such overload")


def divide(a: Any, b: Any) -> Any:
    """`a / b`: integers truncate toward zero; doubles give infinities and NaN. Raises CelError as `add`."""
    kind = type(a)
    if kind is type(b):
        if kind is float:
            return a / b if b else _by_zero(a, b)
        if kind is int or kind is Uint:
            if b == 0:
                raise CelError("division by zero")
            quotient = abs(int(a)) // abs(int(b))
            return Uint(quotient) if kind is Uint else _int(quotient if (a < 0) == (b < 0) else -quotient)
    raise CelError("no such overload")


def modulo(a: Any, b: Any) -> Any:
    """`a % b` of two integers of one type: it has the sign of `a`. Raises CelError as `add`."""
    kind = type(a)
    if kind is type(b) and (kind is int or kind is Uint):
        if b == 0:
            raise CelError("modulus by zero")
        if a == INT_MIN and b == -1:
            raise CelError("integer overflow")
        rest = abs(int(a)) % abs(int(b))
        return Uint(rest) if kind is Uint else rest if a >= 0 else -rest
    raise CelError("no such overload")


def negate(a: Any) -> Any:
    """`-a` of an int, a double or a duration. Raises CelError as `add`."""
    kind = type(a)
    if kind is int:
        return _int(-a)
    if kind is float:
        return -a
    if kind is Duration:
        return Duration(_int(-a.nanoseconds))
    raise CelError("no such overload")


def _int(value: int) -> int:
    if INT_MIN <= value <= INT_MAX:
        return value
    raise CelError("integer overflow")


def _uint(value: int) -> Uint:
    if 0 <= value <= UINT_MAX:
        return Uint(value)
    raise CelError("unsigned integer overflow")


def _moved(moment: Timestamp, nanoseconds: int) -> Timestamp:
    moved = moment.nanoseconds + nanoseconds
    if not EARLIEST <= moved // SECOND <= LATEST:
        raise CelError("timestamp overflow")
    return Timestamp(moved, moment.offset)


def _by_zero(a: float, b: float) -> float:
    if a == 0 or a != a:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)
