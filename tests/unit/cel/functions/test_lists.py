"""Lists: the API server's functions and cel-go's library."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.cel.errors import Budget, Exhausted
from webhook.cel.functions import FUNCTIONS
from webhook.cel.values import Duration, Timestamp, Uint

RESULTS = [
    ("isSorted", ([],), True),
    ("isSorted", ([1, 1, 3],), True),
    ("isSorted", ([1, 3, 2],), False),
    ("isSorted", ([1, Uint(2), 2.5],), True),
    ("isSorted", ([1.0, math.nan, 0.5],), True),
    ("isSorted", (["b", 1],), True),
    ("isSorted", ([Timestamp(1), Timestamp(2)],), True),
    ("sum", ([],), 0),
    ("sum", ([4, 5],), 9),
    ("sum", ([0.5, 0.25],), 0.75),
    ("sum", ([Duration(4), Duration(5)],), Duration(9)),
    ("min", ([4, 2, 3],), 2),
    ("max", ([4, 2, 3],), 4),
    ("min", (["b", "B"],), "B"),
    ("max", ([1, 2.5, Uint(2)],), 2.5),
    ("min", ([5, "a", 3],), 3),
    ("min", ([1.0, math.nan, 0.5],), 0.5),
    ("max", ([False, True],), True),
    ("includes", ([1, None], None), True),
    ("includes", ([1, 2], 3), False),
    ("includes", ("a", "a"), True),
    ("includes", (1, 1.0), True),
    ("includes", (None, []), False),
    ("distinct", ([1, 1.0, Uint(1), True, [2], [2.0]],), [1, True, [2]]),
    ("flatten", ([[1], [2, [3]], 4],), [1, 2, [3], 4]),
    ("flatten", ([[1], [2, [3, [4]]]], 2), [1, 2, 3, [4]]),
    ("flatten", ([[1]], 0), [[1]]),
    ("flatten", ([[[[1]]]], 99), [1]),
    ("lists.range", (3,), [0, 1, 2]),
    ("lists.range", (0,), []),
    ("reverse", ([1, 2, 3],), [3, 2, 1]),
    ("slice", ([1, 2, 3], 1, 3), [2, 3]),
    ("slice", ([1, 2, 3], 3, 3), []),
    ("sort", ([],), []),
    ("sort", ([3, -1, 2],), [-1, 2, 3]),
    ("sort", (["b", "é", "B"],), ["B", "b", "é"]),
    ("sort", ([True, False],), [False, True]),
    ("sort", ([Duration(2), Duration(1)],), [Duration(1), Duration(2)]),
    ("@sortByAssociatedKeys", (["x", "y", "z"], [2, 1, 1]), ["y", "z", "x"]),
]
FAILURES = [
    ("isSorted", ([None],), "no such overload: isSorted(list)"),
    ("isSorted", ([1, None],), "no such overload"),
    ("isSorted", ("abc",), "no such overload: isSorted(string)"),
    ("sum", (["a"],), "no such overload: sum(list)"),
    ("sum", ([1, 2.0],), "no such overload"),
    ("sum", ([2**63 - 1, 1],), "integer overflow"),
    ("min", ([],), "min called on empty list"),
    ("max", ([],), "max called on empty list"),
    ("min", ([[1]],), "no such overload: min(list)"),
    ("max", ([1, None],), "no such overload"),
    ("distinct", (None,), "no such overload: distinct(null_type)"),
    ("flatten", ([[1]], -1), "level must be non-negative"),
    ("flatten", (1,), "no such overload: flatten(int, int)"),
    ("lists.range", (-1,), "lists.range: size must be non-negative, got -1"),
    ("lists.range", (1_000_001,), "lists.range: size 1000001 exceeds maximum allowed (1000000)"),
    ("slice", ([1], -1, 1), "cannot slice(-1, 1), negative indexes not supported"),
    ("slice", ([1], 1, 0), "cannot slice(1, 0), start index must be less than or equal to end index"),
    ("slice", ([1], 0, 2), "cannot slice(0, 2), list is length 1"),
    ("sort", ([1, 2.0],), "list elements must have the same type"),
    ("sort", ([None],), "list elements must be comparable"),
    ("sort", (1,), "no such overload: sort(int)"),
]


@pytest.mark.parametrize(("name", "arguments", "result"), RESULTS)
def test_results(call: Any, name: str, arguments: Any, result: Any) -> None:
    found = call(name, *arguments)
    assert found == result
    assert type(found) is type(result)


@pytest.mark.parametrize(("name", "arguments", "message"), FAILURES)
def test_failures(failure: Any, name: str, arguments: Any, message: str) -> None:
    assert failure(name, *arguments) == message


@given(st.lists(st.integers(-50, 50), max_size=30))
def test_sorting_sorts_and_keeps_the_elements(elements: list[int]) -> None:
    found = FUNCTIONS["sort"].implementation(Budget(), elements)
    assert FUNCTIONS["isSorted"].implementation(Budget(), found)
    assert sorted(elements) == found


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=30))
def test_min_and_max_are_the_ends_of_the_sorted_list(elements: list[int]) -> None:
    found = FUNCTIONS["sort"].implementation(Budget(), elements)
    assert FUNCTIONS["min"].implementation(Budget(), elements) == found[0]
    assert FUNCTIONS["max"].implementation(Budget(), elements) == found[-1]


@given(st.lists(st.integers(-5, 5) | st.text(max_size=1), max_size=20))
def test_distinct_is_idempotent_and_keeps_the_first_of_each(elements: list[Any]) -> None:
    distinct = FUNCTIONS["distinct"].implementation
    found = distinct(Budget(), elements)
    assert found == list(dict.fromkeys(elements))
    assert distinct(Budget(), found) == found


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("lists.range", (2000,)),
        ("reverse", ([0] * 2000,)),
        ("slice", ([0] * 2000, 0, 2000)),
        ("flatten", ([[0] * 2000],)),
        ("distinct", ([0] * 50,)),
        ("sort", ([0] * 50,)),
    ],
)
def test_long_lists_are_paid_for(call: Any, name: str, arguments: Any) -> None:
    with pytest.raises(Exhausted):
        call(name, *arguments, budget=Budget(limit=1000))


def test_arguments_stay_as_they_are(call: Any) -> None:
    elements = [3, 1, [2]]
    call("reverse", elements)
    call("flatten", elements)
    call("distinct", elements)
    assert elements == [3, 1, [2]]
