from typing import Any

import pytest

from webhook.model import path
from webhook.model.result import Edit
from webhook.runs.edits import edits, path_of, refined

POD: dict[str, Any] = {"metadata": {"labels": {"a.b/c": "1"}}, "spec": {"containers": [{"name": "x"}, {"name": "y"}]}}


@pytest.mark.parametrize(
    ("operation", "wanted"),
    [
        ({"op": "add", "path": "/spec/replicas", "value": 3}, [Edit(("spec", "replicas"), (), (3,))]),
        (
            {"op": "add", "path": "/metadata/labels/a.b~1c", "value": "2"},
            [Edit(("metadata", "labels", "a.b/c"), ("1",), ("2",))],
        ),
        (
            {"op": "replace", "path": "/spec/containers/1/name", "value": None},
            [Edit(("spec", "containers", 1, "name"), ("y",), (None,))],
        ),
        ({"op": "remove", "path": "/spec/containers/0"}, [Edit(("spec", "containers", 0), ({"name": "x"},))]),
        ({"op": "add", "path": "/spec/containers/-", "value": {}}, [Edit(("spec", "containers", 2), (), ({},))]),
        ({"op": "add", "path": "/spec/containers/0", "value": {}}, [Edit(("spec", "containers", 0), (), ({},))]),
        (
            {"op": "move", "from": "/metadata/labels", "path": "/spec/labels"},
            [Edit(("metadata", "labels"), ({"a.b/c": "1"},)), Edit(("spec", "labels"), (), ({"a.b/c": "1"},))],
        ),
        (
            {"op": "copy", "from": "/metadata/labels", "path": "/spec/labels"},
            [Edit(("spec", "labels"), (), ({"a.b/c": "1"},))],
        ),
        ({"op": "test", "path": "/spec", "value": POD["spec"]}, []),
    ],
)
def test_an_operation_becomes_what_goes_and_what_comes(operation: dict[str, Any], wanted: list[Edit]) -> None:
    assert list(edits(POD, [operation])) == wanted


def test_each_operation_is_read_in_the_object_that_the_ones_before_it_made() -> None:
    made = edits(
        POD,
        [
            {"op": "add", "path": "/spec/env", "value": []},
            {"op": "add", "path": "/spec/env/-", "value": "a"},
            {"op": "remove", "path": "/spec/env/0"},
        ],
    )

    assert list(made)[1:] == [Edit(("spec", "env", 0), (), ("a",)), Edit(("spec", "env", 0), ("a",))]


def test_a_pointer_escapes_slash_and_tilde_and_a_digit_may_be_a_key() -> None:
    assert path_of({"a~/b": {"0": [1]}}, "/a~0~1b/0/0") == ("a~/b", "0", 0)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": True}, [("a", (1,), (True,))]),
        ({"a": 1, "b": 2}, {"b": 3, "c": 4}, [("b", (2,), (3,)), ("c", (), (4,)), ("a", (1,), ())]),
        ({"a": {"b": {"c": 1}}}, {"a": {"b": {"c": 2}}}, [("a.b.c", (1,), (2,))]),
        ({"a": [1, 2, 3]}, {"a": [1, 3]}, [("a[1]", (2,), ())]),
        ({"a": [1, 3]}, {"a": [1, 2, 3]}, [("a[1]", (), (2,))]),
        ({"a": [{"x": 1}, {"y": 2}]}, {"a": [{"x": 1}, {"y": 3}]}, [("a[1].y", (2,), (3,))]),
        ({"a": [1]}, {"a": []}, [("a", ([1],), ([],))]),
        ({"a": [1]}, {"a": {"b": 1}}, [("a", ([1],), ({"b": 1},))]),
    ],
)
def test_a_replacement_is_refined_to_what_differs(before: Any, after: Any, expected: list[Any]) -> None:
    found = list(refined(Edit((), (before,), (after,))))

    assert [(path.render(each.path), each.before, each.after) for each in found] == expected
