"""Functions of optional values."""

from __future__ import annotations

import math
from typing import Any

import pytest

from webhook.cel.values import NONE, Duration, Optional, Timestamp, Uint, equal, type_of
from webhook.cel.values.time import EARLIEST, SECOND

ONE = Optional.of(1)


@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("optional.of", (None,), Optional.of(None)),
        ("optional.none", (), NONE),
        ("hasValue", (ONE,), True),
        ("hasValue", (NONE,), False),
        ("value", (ONE,), 1),
        ("or", (ONE, NONE), ONE),
        ("or", (NONE, ONE), ONE),
        ("orValue", (ONE, 2), 1),
        ("orValue", (NONE, 2), 2),
        ("orValue", (Optional.of(None), 2), None),
        ("first", ([1, 2],), ONE),
        ("first", ([],), NONE),
        ("last", ([2, 1],), ONE),
        ("last", ([],), NONE),
        ("optional.unwrap", ([ONE, NONE, Optional.of(None)],), [1, None]),
        ("unwrapOpt", ([NONE],), []),
    ],
)
def test_results(call: Any, name: str, arguments: Any, result: Any) -> None:
    assert equal(call(name, *arguments), result)


@pytest.mark.parametrize(
    "value", [None, False, 0, Uint(0), 0.0, -0.0, "", b"", [], {}, Duration(0), Timestamp(EARLIEST * SECOND)]
)
def test_zero_values_are_none(call: Any, value: Any) -> None:
    assert not call("optional.ofNonZeroValue", value).has_value


@pytest.mark.parametrize(
    "value", [True, -1, Uint(1), math.nan, " ", b"\0", [None], {"a": None}, Duration(1), Timestamp(0), NONE, type_of(0)]
)
def test_other_values_are_kept(call: Any, value: Any) -> None:
    assert call("optional.ofNonZeroValue", value).value is value


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("value", (NONE,), "optional.none() dereference"),
        ("value", (1,), "no such overload: value(int)"),
        ("hasValue", (None,), "no such overload: hasValue(null_type)"),
        ("or", (1, NONE), "no such overload"),
        ("orValue", (None, 1), "no such overload"),
        ("first", ("abc",), "no such overload: first(string)"),
        ("last", (None,), "no such overload: last(null_type)"),
        ("optional.unwrap", ([1],), "no such overload: optional.unwrap(list)"),
    ],
)
def test_failures(failure: Any, name: str, arguments: Any, message: str) -> None:
    assert failure(name, *arguments) == message
