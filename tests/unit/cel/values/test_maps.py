"""Maps and their keys."""

from __future__ import annotations

import pickle

import pytest

from webhook.cel.errors import CelError
from webhook.cel.values import Uint, insert, make_map
from webhook.cel.values.maps import MISSING, find


def test_a_map_with_strings_is_a_plain_dict() -> None:
    assert type(make_map([("a", 1)])) is dict


def test_true_and_one_are_two_keys() -> None:
    entries = [(True, "yes"), (1, "one"), (False, "no"), (0, "zero")]
    made = make_map(entries)
    assert len(made) == 4
    assert list(made) == [True, 1, False, 0]
    assert [type(key) for key in made] == [bool, int, bool, int]
    assert list(made.items()) == entries
    assert [find(made, key) for key in (0, False, 1, True)] == ["zero", "no", "one", "yes"]
    assert True in made
    assert made[True] == "yes"


def test_integers_of_both_kinds_are_one_key() -> None:
    assert make_map([(1, "a"), (Uint(1), "b")]) == {1: "b"}


def test_a_key_written_twice_keeps_its_last_value() -> None:
    assert make_map([("a", 1), ("a", 2)]) == {"a": 2}


@pytest.mark.parametrize("key", [None, [1], {}, b"a"])
def test_other_types_are_no_keys(key: object) -> None:
    with pytest.raises(CelError, match="unsupported map key"):
        make_map([(key, 1)])
    with pytest.raises(CelError, match="unsupported map key"):
        insert({}, key, 1)
    assert find({"a": 1}, key) is MISSING


def test_entries_are_added_to_a_map_that_is_being_built() -> None:
    made = insert(insert(insert({}, "a", 1), True, 2), 1, 3)
    assert list(made.items()) == [("a", 1), (True, 2), (1, 3)]


@pytest.mark.parametrize("key", ["a", 1, True])
def test_an_entry_is_not_added_twice(key: object) -> None:
    made = insert({}, key, 1)
    with pytest.raises(CelError, match=r"^insert failed: key (a|1|true) already exists$"):
        insert(made, key, 2)


def test_maps_with_bool_keys_can_be_pickled() -> None:
    made = make_map([(True, "yes"), (1, "one")])
    assert list(pickle.loads(pickle.dumps(made)).items()) == [(True, "yes"), (1, "one")]  # noqa: S301 - our own
