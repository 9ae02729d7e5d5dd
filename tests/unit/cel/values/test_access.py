"""Fields, indexes, membership, iteration, size."""

from __future__ import annotations

from typing import Any

import pytest

from webhook.cel.errors import CelError
from webhook.cel.values import (
    NONE,
    Optional,
    Timestamp,
    Uint,
    condition,
    has,
    index,
    items,
    make_map,
    member,
    select,
    size,
)

POD = {"metadata": {"name": "a"}, "none": None, "ports": [80, 443]}


def message(function: Any, *arguments: Any) -> str:
    """What the error says."""
    with pytest.raises(CelError) as caught:
        function(*arguments)
    return str(caught.value)


def test_a_field_is_selected() -> None:
    assert select(POD, "metadata") is POD["metadata"]
    assert select(POD, "none") is None


@pytest.mark.parametrize("value", [{}, None, "text", 1, 1.5, True, b"", Timestamp(0)])
def test_a_field_that_is_not_there_is_no_such_key(value: Any) -> None:
    assert message(select, value, "spec") == "no such key: spec"
    assert not has(value, "spec")


def test_a_list_has_no_fields() -> None:
    assert message(select, [1], "spec") == "unsupported index type 'string' in list"
    assert message(has, [1], "spec") == "unsupported index type 'string' in list"


def test_a_field_with_null_is_there() -> None:
    assert has(POD, "none")


@pytest.mark.parametrize(
    ("container", "key", "value"),
    [
        ([5, 6], 1, 6),
        ([5, 6], 1.0, 6),
        ([5, 6], Uint(0), 5),
        ({"a": 1}, "a", 1),
        (make_map([(1, "one")]), Uint(1), "one"),
        (make_map([(Uint(1), "one")]), 1.0, "one"),
        (make_map([(True, "yes"), (1, "one")]), True, "yes"),
        (make_map([(True, "yes"), (1, "one")]), 1, "one"),
    ],
)
def test_indexing(container: Any, key: Any, value: Any) -> None:
    assert index(container, key) == value


@pytest.mark.parametrize(
    ("container", "key", "text"),
    [
        ([5], 1, "index out of bounds: 1"),
        ([5], -1, "index out of bounds: -1"),
        ([5], 0.5, "unsupported index value 0.5 in list"),
        ([5], "0", "unsupported index type 'string' in list"),
        ([5], True, "unsupported index type 'bool' in list"),
        ({"a": 1}, "b", "no such key: b"),
        ({"a": 1}, 1, "no such key: 1"),
        ({"a": 1}, None, "no such key: null"),
        ({"a": 1}, [1], "no such key: [1]"),
        (make_map([(1, "one")]), True, "no such key: true"),
        (make_map([(True, "yes")]), 1, "no such key: 1"),
        (None, "a", "no such key: a"),
        ("text", 0, "no such key: 0"),
    ],
)
def test_indexing_what_is_not_there(container: Any, key: Any, text: str) -> None:
    assert message(index, container, key) == text


def test_selecting_from_an_optional_is_optional() -> None:
    name = index(Optional.of(POD), "metadata")["name"]
    assert name.value == "a"
    assert not select(Optional.of(POD), "spec").has_value
    assert not select(NONE, "spec").has_value
    assert has(Optional.of(POD), "metadata")
    assert not has(NONE, "metadata")


@pytest.mark.parametrize(
    ("value", "container"),
    [
        ("a", ["b", "a"]),
        (1, [2, 1.0]),
        ([1], [[1.0]]),
        (None, [None]),
        ("a", {"a": None}),
        (1.0, make_map([(Uint(1), 0)])),
        (True, make_map([(True, 0)])),
    ],
)
def test_members(value: Any, container: Any) -> None:
    assert member(value, container)


@pytest.mark.parametrize(
    ("value", "container"),
    [("a", []), ("1", [1]), (1, [True, "1"]), (True, [1]), ("b", {"a": 1}), (1, {"a": 1}), ([1], {"a": 1}), (None, {})],
)
def test_values_that_are_no_members(value: Any, container: Any) -> None:
    assert not member(value, container)


@pytest.mark.parametrize("container", ["abc", None, 1, NONE])
def test_nothing_is_in_a_scalar(container: Any) -> None:
    assert message(member, "a", container) == "no such overload"


def test_macros_go_through_elements_and_keys() -> None:
    assert list(items([1, 2])) == [1, 2]
    assert list(items({"a": 1, "b": 2})) == ["a", "b"]
    assert list(items(make_map([(True, 1), (1, 2)]))) == [True, 1]


@pytest.mark.parametrize("value", [None, "abc", 1, Optional.of([1])])
def test_macros_go_through_nothing_else(value: Any) -> None:
    assert message(items, value) == "no such overload"


@pytest.mark.parametrize(("value", "length"), [("é😀", 2), ("é".encode(), 2), ([1, 2, 3], 3), ({"a": 1}, 1), ("", 0)])
def test_sizes(value: Any, length: int) -> None:
    assert size(value) == length


def test_a_number_has_no_size() -> None:
    assert message(size, 1) == "no such overload: size(int)"


def test_only_bools_are_conditions() -> None:
    assert condition(True) is True
    assert condition(False) is False


@pytest.mark.parametrize("value", [1, 0, None, "true", [], NONE])
def test_nothing_else_is_a_condition(value: Any) -> None:
    assert message(condition, value) == "no such overload"
