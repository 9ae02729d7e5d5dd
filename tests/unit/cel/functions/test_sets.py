"""Lists as sets."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.cel.errors import Budget, Exhausted
from webhook.cel.functions import FUNCTIONS
from webhook.cel.values import Uint

LISTS = st.lists(st.integers(0, 3), max_size=5)


@pytest.mark.parametrize(
    ("name", "a", "b", "result"),
    [
        ("sets.contains", [1, "a", [2]], [[2.0], Uint(1)], True),
        ("sets.contains", [1], [1, True], False),
        ("sets.contains", [], [], True),
        ("sets.equivalent", [1, 1, 2], [2.0, 1], True),
        ("sets.equivalent", [1, 2], [1], False),
        ("sets.intersects", [1, 2], [3, 2.0], True),
        ("sets.intersects", [1], ["1"], False),
        ("sets.intersects", [], [], False),
    ],
)
def test_results(call: Any, name: str, a: list[Any], b: list[Any], result: bool) -> None:
    assert call(name, a, b) is result


@given(LISTS, LISTS)
def test_they_agree_with_sets(a: list[int], b: list[int]) -> None:
    def ask(name: str) -> Any:
        return FUNCTIONS[f"sets.{name}"].implementation(Budget(), a, b)

    assert ask("contains") == (set(b) <= set(a))
    assert ask("equivalent") == (set(b) == set(a))
    assert ask("intersects") == bool(set(b) & set(a))


def test_only_lists_are_sets(failure: Any) -> None:
    assert failure("sets.contains", 1, [1]) == "no such overload: sets.contains(int, list)"


@pytest.mark.parametrize("name", ["sets.contains", "sets.equivalent", "sets.intersects"])
def test_every_pair_is_paid_for(call: Any, name: str) -> None:
    with pytest.raises(Exhausted):
        call(name, [0] * 40, [1] * 40, budget=Budget(limit=1000))
