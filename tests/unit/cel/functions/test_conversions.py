"""Conversions between types."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.cel.errors import Budget, Exhausted
from webhook.cel.functions import FUNCTIONS
from webhook.cel.values import NONE, Duration, Timestamp, Uint, type_of
from webhook.cel.values.time import EARLIEST, LATEST, SECOND

RESULTS = [
    ("int", 5, 5),
    ("int", Uint(5), 5),
    ("int", 2.9, 2),
    ("int", -2.9, -2),
    ("int", 9007199254740993.0, 9007199254740992),
    ("int", "+12", 12),
    ("int", "-9223372036854775808", -(2**63)),
    ("int", "0" * 30 + "7", 7),
    ("int", Timestamp(-1), -1),
    ("int", Duration(1500), 1500),
    ("uint", 5, Uint(5)),
    ("uint", 5.9, Uint(5)),
    ("uint", "18446744073709551615", Uint(2**64 - 1)),
    ("double", 5, 5.0),
    ("double", Uint(5), 5.0),
    ("double", "1e3", 1000.0),
    ("double", "1_0.2_5", 10.25),
    ("double", "-.5", -0.5),
    ("double", "5.", 5.0),
    ("double", "0x1.8p1", 3.0),
    ("double", "0X_ap-1", 5.0),
    ("double", "-INF", -math.inf),
    ("double", "+infinity", math.inf),
    ("bool", True, True),
    ("bool", "T", True),
    ("bool", "0", False),
    ("string", "a", "a"),
    ("string", True, "true"),
    ("string", -5, "-5"),
    ("string", Uint(5), "5"),
    ("string", 1.0, "1"),
    ("string", 2.5e10, "2.5e+10"),
    ("string", "é".encode(), "é"),
    ("string", Timestamp(0, offset=-5400), "1969-12-31T22:30:00-01:30"),
    ("string", Duration(250_000_000), "0.25s"),
    ("bytes", "é", "é".encode()),
    ("bytes", b"a", b"a"),
    ("timestamp", 60, Timestamp(60 * SECOND)),
    ("timestamp", EARLIEST, Timestamp(EARLIEST * SECOND)),
    ("timestamp", LATEST, Timestamp(LATEST * SECOND)),
    ("timestamp", "1970-01-01T00:01:00Z", Timestamp(60 * SECOND)),
    ("timestamp", Timestamp(1), Timestamp(1)),
    ("duration", "1m", Duration(60 * SECOND)),
    ("duration", Duration(1), Duration(1)),
    ("dyn", None, None),
    ("type", None, type_of(None)),
]
FAILURES = [
    ("int", 2.0**63, "integer overflow"),
    ("int", -(2.0**63), "integer overflow"),
    ("int", math.nan, "integer overflow"),
    ("int", Uint(2**63), "integer overflow"),
    ("int", "9223372036854775808", "type conversion error from 'string' to 'int'"),
    ("int", "1" * 5000, "type conversion error from 'string' to 'int'"),
    ("int", "1.0", "type conversion error from 'string' to 'int'"),
    ("int", "1_0", "type conversion error from 'string' to 'int'"),
    ("int", " 1", "type conversion error from 'string' to 'int'"),
    ("int", "٣", "type conversion error from 'string' to 'int'"),
    ("int", None, "no such overload: int(null_type)"),
    ("int", True, "no such overload: int(bool)"),
    ("uint", -1, "unsigned integer overflow"),
    ("uint", -0.5, "unsigned integer overflow"),
    ("uint", 2.0**64, "unsigned integer overflow"),
    ("uint", math.inf, "unsigned integer overflow"),
    ("uint", "+1", "type conversion error from 'string' to 'uint'"),
    ("uint", "18446744073709551616", "type conversion error from 'string' to 'uint'"),
    ("double", "1e400", "type conversion error from 'string' to 'double'"),
    ("double", "0x1p9999", "type conversion error from 'string' to 'double'"),
    ("double", "0x1", "type conversion error from 'string' to 'double'"),
    ("double", "+nan", "type conversion error from 'string' to 'double'"),
    ("double", "1__0", "type conversion error from 'string' to 'double'"),
    ("double", " 1", "type conversion error from 'string' to 'double'"),
    ("double", ".", "type conversion error from 'string' to 'double'"),
    ("double", "", "type conversion error from 'string' to 'double'"),
    ("bool", "yes", "type conversion error from 'string' to 'bool'"),
    ("bool", "tRUE", "type conversion error from 'string' to 'bool'"),
    ("bool", 1, "no such overload: bool(int)"),
    ("string", None, "no such overload: string(null_type)"),
    ("string", [1], "no such overload: string(list)"),
    ("string", b"\xff", "invalid UTF-8 in bytes, cannot convert to string"),
    ("bytes", 1, "no such overload: bytes(int)"),
    ("timestamp", LATEST + 1, "timestamp overflow"),
    ("timestamp", EARLIEST - 1, "timestamp overflow"),
    ("timestamp", "soon", "type conversion error from 'string' to 'google.protobuf.Timestamp'"),
    ("timestamp", 1.0, "no such overload: timestamp(double)"),
    ("duration", "soon", "type conversion error from 'string' to 'google.protobuf.Duration'"),
    ("duration", 1, "no such overload: duration(int)"),
]


@pytest.mark.parametrize(("name", "value", "result"), RESULTS)
def test_results(call: Any, name: str, value: Any, result: Any) -> None:
    found = call(name, value)
    assert found == result
    assert type(found) is type(result)


@pytest.mark.parametrize(("name", "value", "message"), FAILURES)
def test_failures(failure: Any, name: str, value: Any, message: str) -> None:
    assert failure(name, value) == message


def test_nan_is_read(call: Any) -> None:
    assert math.isnan(call("double", "nan"))


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (1, "int"),
        (Uint(1), "uint"),
        (1.0, "double"),
        (True, "bool"),
        ("", "string"),
        (b"", "bytes"),
        (None, "null_type"),
        ([], "list"),
        ({}, "map"),
        (Timestamp(0), "google.protobuf.Timestamp"),
        (Duration(0), "google.protobuf.Duration"),
        (NONE, "optional_type"),
        (type_of(1), "type"),
    ],
)
def test_every_value_has_a_type(call: Any, value: Any, name: str) -> None:
    assert call("type", value).name == name


@given(st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False) | st.booleans())
def test_the_text_of_a_value_converts_back(value: Any) -> None:
    text = FUNCTIONS["string"].implementation(Budget(), value)
    assert FUNCTIONS[type_of(value).name].implementation(text) == value


@pytest.mark.parametrize(("name", "value"), [("string", b"x" * 9000), ("bytes", "x" * 9000)])
def test_copies_are_paid_for(call: Any, name: str, value: Any) -> None:
    with pytest.raises(Exhausted):
        call(name, value, budget=Budget(limit=500))
