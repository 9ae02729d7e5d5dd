"""What versions of an object share is neither copied nor compared, and the answers are those of the library."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonpatch
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.engine.patch import apply, difference
from webhook.model.request import Object

KEYS = st.sampled_from(["a", "b", "~", "a/b", "0", "-"])
VALUES = st.recursive(
    st.sampled_from([None, True, 1, 0, "x", ""]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)


def changes(value: Any, path: str = "") -> Iterator[dict[str, Any]]:
    """Every operation that a value allows at one place, with nothing to put there yet."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        place = f"{path}/{str(key).replace('~', '~0').replace('/', '~1')}"
        yield from ({"op": verb, "path": place} for verb in ("remove", "replace"))
        yield from ({"op": verb, "from": place, "path": "/taken"} for verb in ("copy", "move"))
        yield from changes(member, place)
    if isinstance(value, list | dict):
        yield {"op": "add", "path": f"{path}/-" if isinstance(value, list) else f"{path}/new"}


@given(OBJECTS, st.data())
def test_a_patched_object_differs_by_what_leads_to_it_and_leaves_the_first_alone(first: Any, data: Any) -> None:
    before = json.dumps(first)
    after = first
    for _ in range(data.draw(st.integers(1, 3))):
        operation = data.draw(st.sampled_from(list(changes(after))))
        after = apply(after, [operation | {"value": data.draw(VALUES)}])
    assert json.dumps(first) == before
    led = jsonpatch.apply_patch(json.loads(before), difference(first, after))
    assert json.dumps(led, sort_keys=True) == json.dumps(after, sort_keys=True)


@given(OBJECTS, OBJECTS)
def test_objects_that_share_nothing_are_told_apart_too(before: Any, after: Any) -> None:
    led = jsonpatch.apply_patch(before, difference(before, after))
    assert json.dumps(led, sort_keys=True) == json.dumps(after, sort_keys=True)


def test_what_a_patch_leaves_alone_is_the_same_object() -> None:
    first: Object = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a"}, {"name": "b"}]}}
    after = apply(first, [{"op": "add", "path": "/spec/containers/1/image", "value": "x"}])
    assert after["metadata"] is first["metadata"]
    assert after["spec"]["containers"][0] is first["spec"]["containers"][0]
    assert first["spec"]["containers"][1] == {"name": "b"}


@pytest.mark.parametrize(
    ("operations", "told"),
    [
        ([{"op": "add", "path": "/list/2", "value": 9}], [{"op": "add", "path": "/list/2", "value": 9}]),
        ([{"op": "remove", "path": "/list/1"}], [{"op": "remove", "path": "/list/1"}]),
        ([{"op": "replace", "path": "/list/3/a", "value": 2}], [{"op": "replace", "path": "/list/3/a", "value": 2}]),
        ([{"op": "replace", "path": "/list/0", "value": True}], [{"op": "replace", "path": "/list/0", "value": True}]),
        ([{"op": "replace", "path": "/a~1b/~0", "value": 2}], [{"op": "replace", "path": "/a~1b/~0", "value": 2}]),
    ],
)
def test_a_difference_is_told_at_its_place(operations: list[Any], told: list[Any]) -> None:
    first = {"list": [1, 2, 3, {"a": 1, "b": {}}], "a/b": {"~": 1}}
    assert list(difference(first, apply(first, operations))) == told
