"""Equality and order."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.cel.errors import CelError
from webhook.cel.values import (
    NONE,
    Duration,
    Optional,
    Timestamp,
    Uint,
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    make_map,
    type_of,
)

INTS = st.integers(-(2**63), 2**63 - 1)
UINTS = st.integers(0, 2**64 - 1).map(Uint)
DOUBLES = st.floats(allow_nan=False)
NUMBERS = INTS | UINTS | DOUBLES
SCALARS = NUMBERS | st.none() | st.booleans() | st.text(max_size=3) | st.binary(max_size=3)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=6,
)

EQUAL = [
    (1, 1.0),
    (1, Uint(1)),
    (Uint(2), 2.0),
    (0.0, -0.0),
    (None, None),
    ("é", "é"),
    (b"a", b"a"),
    ([1, {"a": [2]}], [1.0, {"a": [Uint(2)]}]),
    ({"a": None}, {"a": None}),
    (make_map([(1, "x")]), make_map([(Uint(1), "x")])),
    (make_map([(True, 1)]), make_map([(True, 1.0)])),
    (Duration(5), Duration(5)),
    (Timestamp(5, offset=3600), Timestamp(5)),
    (type_of(1), type_of(2)),
    (Optional.of([1]), Optional.of([1.0])),
    (NONE, NONE),
    (2**53 + 1, 2.0**53),
]
UNEQUAL = [
    (True, 1),
    (False, 0),
    (1, "1"),
    (None, False),
    (None, 0),
    (b"a", "a"),
    ([1], [1, 2]),
    ([True], [1]),
    ([1], {0: 1}),
    ({"a": None}, {"b": None}),
    (make_map([(True, 1)]), make_map([(1, 1)])),
    (math.nan, math.nan),
    ([math.nan], [math.nan]),
    (Duration(1), 1),
    (Timestamp(1), Duration(1)),
    (type_of(1), type_of("")),
    (Optional.of(None), NONE),
    (Optional.of(1), 1),
]


@pytest.mark.parametrize(("a", "b"), EQUAL)
def test_values_that_are_equal(a: Any, b: Any) -> None:
    assert equal(a, b)
    assert equal(b, a)


@pytest.mark.parametrize(("a", "b"), UNEQUAL)
def test_values_that_are_not_equal(a: Any, b: Any) -> None:
    assert not equal(a, b)
    assert not equal(b, a)


@given(VALUES, VALUES)
def test_equality_is_symmetric_and_never_fails(a: Any, b: Any) -> None:
    assert equal(a, b) == equal(b, a)


@given(VALUES)
def test_a_value_equals_itself(a: Any) -> None:
    assert equal(a, a)


@given(NUMBERS, NUMBERS)
def test_of_two_numbers_exactly_one_relation_holds(a: Any, b: Any) -> None:
    assert [less(a, b), equal(a, b), greater(a, b)].count(True) == 1
    assert less_equal(a, b) == (less(a, b) or equal(a, b))
    assert greater_equal(a, b) == (greater(a, b) or equal(a, b))


@given(INTS | UINTS, INTS | UINTS, INTS | UINTS)
def test_the_order_of_integers_is_transitive(a: int, b: int, c: int) -> None:
    if less(a, b) and less(b, c):
        assert less(a, c)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (-1, Uint(0)),
        (Uint(2**63), 1e300),
        (2**63 - 1, Uint(2**63)),
        (-math.inf, -(2**63)),
        ("a", "b"),
        ("Z", "a"),
        ("\uffff", "\U0001f600"),
        (b"a", b"\xff"),
        (False, True),
        (Duration(-1), Duration(0)),
        (Timestamp(1, offset=7200), Timestamp(2)),
    ],
)
def test_values_in_ascending_order(a: Any, b: Any) -> None:
    assert less(a, b)
    assert less_equal(a, b)
    assert greater(b, a)
    assert greater_equal(b, a)
    assert not less(b, a)


@pytest.mark.parametrize(
    ("a", "b"), [("1", 1), (None, None), ([1], [2]), ({}, {}), (True, 1), (b"a", "a"), (NONE, NONE)]
)
def test_what_has_no_order_is_no_such_overload(a: Any, b: Any) -> None:
    for compare in (less, less_equal, greater, greater_equal):
        with pytest.raises(CelError, match=r"^no such overload$"):
            compare(a, b)


@pytest.mark.parametrize(("a", "b"), [(math.nan, 1.0), (1, math.nan), (Uint(1), math.nan), (math.nan, math.nan)])
def test_nan_cannot_be_ordered(a: Any, b: Any) -> None:
    with pytest.raises(CelError, match=r"^NaN values cannot be ordered$"):
        less(a, b)
    with pytest.raises(CelError, match=r"^NaN values cannot be ordered$"):
        greater_equal(a, b)
