"""Arithmetic and concatenation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.cel.errors import Budget, CelError, Exhausted
from webhook.cel.values import Duration, Timestamp, Uint, add, divide, modulo, multiply, negate, subtract
from webhook.cel.values.time import EARLIEST, LATEST, SECOND

LOW, HIGH, UHIGH = -(2**63), 2**63 - 1, 2**64 - 1
INTS = st.integers(LOW, HIGH) | st.sampled_from([LOW, LOW + 1, -1, 0, 1, HIGH - 1, HIGH])
UINTS = (st.integers(0, UHIGH) | st.sampled_from([0, 1, UHIGH - 1, UHIGH])).map(Uint)


def plus(a: Any, b: Any) -> Any:
    """Add with a budget of its own."""
    return add(Budget(), a, b)


def outcome(operation: Callable[..., Any], *operands: Any) -> Any:
    """The result, or the message of the error."""
    try:
        return operation(*operands)
    except CelError as error:
        return str(error)


@pytest.mark.parametrize(
    ("operation", "exact"), [(plus, int.__add__), (subtract, int.__sub__), (multiply, int.__mul__)]
)
@given(a=INTS, b=INTS)
def test_integers_overflow_exactly_at_the_limits(operation: Any, exact: Any, a: int, b: int) -> None:
    true = exact(a, b)
    assert outcome(operation, a, b) == (true if LOW <= true <= HIGH else "integer overflow")


@pytest.mark.parametrize(
    ("operation", "exact"), [(plus, int.__add__), (subtract, int.__sub__), (multiply, int.__mul__)]
)
@given(a=UINTS, b=UINTS)
def test_unsigned_integers_overflow_exactly_at_the_limits(operation: Any, exact: Any, a: Uint, b: Uint) -> None:
    true = exact(int(a), int(b))
    result = outcome(operation, a, b)
    assert result == (true if 0 <= true <= UHIGH else "unsigned integer overflow")
    assert type(result) in (Uint, str)


@given(INTS, INTS.filter(bool))
def test_division_truncates_and_modulo_has_the_sign_of_the_dividend(a: int, b: int) -> None:
    if (a, b) == (LOW, -1):
        assert outcome(divide, a, b) == outcome(modulo, a, b) == "integer overflow"
        return
    quotient, rest = divide(a, b), modulo(a, b)
    assert quotient * b + rest == a
    assert abs(rest) < abs(b)
    assert rest == 0 or (rest < 0) == (a < 0)


@pytest.mark.parametrize(("a", "b"), [(1, 0), (Uint(1), Uint(0))])
def test_dividing_an_integer_by_zero_is_an_error(a: Any, b: Any) -> None:
    assert outcome(divide, a, b) == "division by zero"
    assert outcome(modulo, a, b) == "modulus by zero"


@pytest.mark.parametrize(
    ("a", "b", "result"),
    [
        (1.0, 0.0, math.inf),
        (-1.0, 0.0, -math.inf),
        (1.0, -0.0, -math.inf),
        (-math.inf, -0.0, math.inf),
        (7.0, 2.0, 3.5),
        (1e308, 1e-10, math.inf),
    ],
)
def test_dividing_a_double_by_zero_is_infinite(a: float, b: float, result: float) -> None:
    assert divide(a, b) == result


@pytest.mark.parametrize("a", [0.0, -0.0, math.nan])
def test_zero_by_zero_is_not_a_number(a: float) -> None:
    assert math.isnan(divide(a, 0.0))


@pytest.mark.parametrize("value", [1, -1, 0, HIGH, 1.5, Duration(3)])
def test_negating_twice_gives_the_value(value: Any) -> None:
    assert negate(negate(value)) == value


@pytest.mark.parametrize("value", [LOW, Duration(LOW)])
def test_the_lowest_value_has_no_opposite(value: Any) -> None:
    assert outcome(negate, value) == "integer overflow"


@pytest.mark.parametrize(
    ("a", "b", "total"),
    [
        ("gpu-", "é", "gpu-é"),
        (b"a", b"\xff", b"a\xff"),
        ([1], ["a"], [1, "a"]),
        (1.5, 2.0, 3.5),
        (Duration(5), Duration(-7), Duration(-2)),
        (Timestamp(5), Duration(7), Timestamp(12)),
        (Duration(7), Timestamp(5), Timestamp(12)),
    ],
)
def test_sums(a: Any, b: Any, total: Any) -> None:
    assert plus(a, b) == total


def test_moments_and_spans_subtract() -> None:
    assert subtract(Timestamp(12), Timestamp(5)) == Duration(7)
    assert subtract(Timestamp(12), Duration(5)) == Timestamp(7)
    assert subtract(Duration(12), Duration(5)) == Duration(7)


def test_a_moved_timestamp_keeps_its_time_zone() -> None:
    assert str(plus(Timestamp.parse("2026-03-01T10:00:00+02:00"), Duration(SECOND))) == "2026-03-01T10:00:01+02:00"


@pytest.mark.parametrize(
    ("operation", "a", "b", "message"),
    [
        (plus, Timestamp(LATEST * SECOND), Duration(SECOND), "timestamp overflow"),
        (subtract, Timestamp(EARLIEST * SECOND), Duration(1), "timestamp overflow"),
        (subtract, Timestamp(LATEST * SECOND), Timestamp(EARLIEST * SECOND), "integer overflow"),
        (subtract, Timestamp(0), Duration(LOW), "integer overflow"),
        (plus, Duration(HIGH), Duration(1), "integer overflow"),
    ],
)
def test_time_has_limits(operation: Any, a: Any, b: Any, message: str) -> None:
    assert outcome(operation, a, b) == message


MIXED = [(1, 1.0), (1, Uint(1)), ("a", 1), ("a", b"a"), (None, None), (True, True), ({}, {}), (Timestamp(0), 1)]


@pytest.mark.parametrize("operation", [plus, subtract, multiply, divide, modulo])
@pytest.mark.parametrize(("a", "b"), MIXED)
def test_types_do_not_mix(operation: Any, a: Any, b: Any) -> None:
    assert outcome(operation, a, b) == "no such overload"


@pytest.mark.parametrize("value", [True, "a", None, Uint(1), [1]])
def test_what_has_no_sign_cannot_be_negated(value: Any) -> None:
    assert outcome(negate, value) == "no such overload"


@pytest.mark.parametrize(("a", "b"), [("x" * 600, "y" * 600), (b"x" * 600, b"y" * 600), ([0] * 60, [0] * 60)])
def test_concatenation_is_paid_for(a: Any, b: Any) -> None:
    with pytest.raises(Exhausted):
        add(Budget(limit=100), a, b)


def test_operands_stay_as_they_are() -> None:
    a, b = [1], [2]
    plus(a, b)
    assert (a, b) == ([1], [2])
