"""Conversions between types: `int(x)`, `string(x)`, `timestamp(x)` and so on.

The checker declares them, all but `string`, which takes addresses too. Ranges, spellings and messages are
cel-go's (`common/types`, `ConvertToType`), and Go's `strconv` underneath it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from webhook.cel.errors import Budget, CelError
from webhook.cel.functions.library import Function, Library, call
from webhook.cel.values.arithmetic import INT_MAX, INT_MIN, UINT_MAX, text_cost
from webhook.cel.values.network import CIDR, IP
from webhook.cel.values.text import double
from webhook.cel.values.time import EARLIEST, LATEST, SECOND, Duration, Timestamp
from webhook.cel.values.types import Uint, no_such_overload, type_of

_INT: Final = re.compile(r"([+-]?)0*([0-9]{1,20})")
_NUMBER: Final = re.compile(
    r"[+-]?(?:[0-9](?:_?[0-9])*\.?(?:[0-9](?:_?[0-9])*)?|\.[0-9](?:_?[0-9])*)(?:[eE][+-]?[0-9](?:_?[0-9])*)?"
)
_HEX_NUMBER: Final = re.compile(
    r"[+-]?0[xX]_?(?:[0-9a-fA-F](?:_?[0-9a-fA-F])*\.?(?:[0-9a-fA-F](?:_?[0-9a-fA-F])*)?"
    r"|\.[0-9a-fA-F](?:_?[0-9a-fA-F])*)[pP][+-]?[0-9](?:_?[0-9])*"
)
_NO_NUMBER: Final = re.compile(r"[+-]?inf(?:inity)?|nan", re.IGNORECASE)
_WRITTEN: Final = frozenset({Timestamp, Duration, IP, CIDR})
_BOOLS: Final = {
    **dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True),
    **dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False),
}


def _unreadable(want: str) -> CelError:
    return CelError(f"type conversion error from 'string' to '{want}'")


def _same(value: Any) -> Any:
    return value


def _int_from_double(value: float) -> int:
    if not -(2.0**63) < value < 2.0**63:  # NaN is not either
        raise CelError("integer overflow")
    return math.trunc(value)


def _int_from_uint(value: Uint) -> int:
    if value > INT_MAX:
        raise CelError("integer overflow")
    return int(value)


def _int_from_string(text: str) -> int:
    if match := _INT.fullmatch(text):
        value = int(match[1] + match[2])
        if INT_MIN <= value <= INT_MAX:
            return value
    raise _unreadable("int")


def _uint_from_double(value: float) -> Uint:
    if not 0 <= value < 2.0**64:
        raise CelError("unsigned integer overflow")
    return Uint(value)


def _uint_from_int(value: int) -> Uint:
    if value < 0:
        raise CelError("unsigned integer overflow")
    return Uint(value)


def _uint_from_string(text: str) -> Uint:
    if (match := _INT.fullmatch(text)) and not match[1] and (value := int(match[2])) <= UINT_MAX:
        return Uint(value)
    raise _unreadable("uint")


def _double_from_string(text: str) -> float:
    if _NO_NUMBER.fullmatch(text):
        return float(text)
    if _NUMBER.fullmatch(text):
        value = float(text)
    elif _HEX_NUMBER.fullmatch(text):
        value = _hex(text.replace("_", ""))
    else:
        raise _unreadable("double")
    if math.isinf(value):
        raise _unreadable("double")
    return value


def _hex(text: str) -> float:
    try:
        return float.fromhex(text)
    except OverflowError:
        return math.inf


def _bool_from_string(text: str) -> bool:
    if text in _BOOLS:
        return _BOOLS[text]
    raise _unreadable("bool")


def _timestamp_from_int(seconds: int) -> Timestamp:
    if not EARLIEST <= seconds <= LATEST:
        raise CelError("timestamp overflow")
    return Timestamp(seconds * SECOND)


def _converter(name: str, conversions: Mapping[type, Callable[[Any], Any]]) -> Function:
    def convert(value: Any) -> Any:
        conversion = conversions.get(type(value))
        if conversion is None:
            raise no_such_overload(name, value)
        return conversion(value)

    return Function(name, (), convert)


def _string(budget: Budget, value: Any) -> str:
    kind = type(value)
    if kind is str:
        return value  # type: ignore[no-any-return]  # it is a str
    if kind is bytes:
        budget.charge(text_cost(len(value)))
        try:
            return value.decode()  # type: ignore[no-any-return]  # it is a str
        except UnicodeDecodeError:
            raise CelError("invalid UTF-8 in bytes, cannot convert to string") from None
    if kind is bool:
        return "true" if value else "false"
    if kind is float:
        return double(value)
    if kind is int or kind is Uint:
        return str(int(value))
    if kind in _WRITTEN:
        return str(value)
    raise no_such_overload("string", value)


def _bytes(budget: Budget, value: Any) -> bytes:
    if type(value) is bytes:
        return value
    if type(value) is str:
        budget.charge(text_cost(len(value)))
        return value.encode()
    raise no_such_overload("bytes", value)


_STRING: Final = (
    *(
        call(type_, result="string")
        for type_ in ("bool", "bytes", "double", "duration", "int", "string", "timestamp", "uint")
    ),
    *(call(type_, result="string", since="1.30") for type_ in ("net.IP", "net.CIDR")),
)

LIBRARIES: Final = (
    Library(
        "conversions",
        "1.0",
        (
            _converter(
                "int",
                {
                    int: _same,
                    Uint: _int_from_uint,
                    float: _int_from_double,
                    str: _int_from_string,
                    Timestamp: lambda moment: moment.nanoseconds // SECOND,
                    Duration: lambda span: span.nanoseconds,
                },
            ),
            _converter(
                "uint",
                {Uint: _same, int: _uint_from_int, float: _uint_from_double, str: _uint_from_string},
            ),
            _converter("double", {float: _same, int: float, Uint: float, str: _double_from_string}),
            _converter("bool", {bool: _same, str: _bool_from_string}),
            _converter("timestamp", {Timestamp: _same, int: _timestamp_from_int, str: Timestamp.parse}),
            _converter("duration", {Duration: _same, str: Duration.parse}),
            Function("string", _STRING, _string, charges=True),
            Function("bytes", (), _bytes, charges=True),
            Function("dyn", (), _same),
            Function("type", (), type_of),
        ),
    ),
)
