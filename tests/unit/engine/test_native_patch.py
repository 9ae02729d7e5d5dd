"""JSON Patch where a MutatingAdmissionPolicy's differs from RFC 6902: as a real API server answers."""

from __future__ import annotations

from typing import Any

import pytest

from webhook.cel.errors import CelError
from webhook.engine.patch import apply

OBJECT = {"list": ["a", "b", "c"], "map": {"x": 1}, "text": "t"}


def patched(op: str, path: str, value: Any = None, **more: Any) -> Any:
    return apply(OBJECT, [{"op": op, "path": path, "value": value, **more}], native=True)


@pytest.mark.parametrize(
    ("op", "path", "value", "made"),
    [
        ("add", "/list/-", "z", {"list": ["a", "b", "c", "z"]}),
        ("add", "/list/3", "z", {"list": ["a", "b", "c", "z"]}),
        ("add", "/list/-1", "z", {"list": ["a", "b", "c", "z"]}),
        ("add", "/list/-4", "z", {"list": ["z", "a", "b", "c"]}),
        ("replace", "/list/-1", "z", {"list": ["a", "b", "z"]}),
        ("replace", "/list/01", "z", {"list": ["a", "z", "c"]}),
        ("remove", "/list/-3", None, {"list": ["b", "c"]}),
        ("replace", "/map/new", 2, {"map": {"x": 1, "new": 2}}),
        ("add", "ignored/map/new", 2, {"map": {"x": 1, "new": 2}}),
        ("add", "/map/a~1b~0", 2, {"map": {"x": 1, "a/b~": 2}}),
        ("test", "/map/x", 1, {}),
        ("test", "/map/none", None, {}),
        ("test", "/map/x", 2, {}),
        ("test", "/map/none", 1, {}),
    ],
)
def test_an_operation_does_what_the_api_server_does(op: str, path: str, value: Any, made: Any) -> None:
    assert patched(op, path, value) == OBJECT | made


def test_what_is_copied_from_nowhere_is_null_and_what_is_moved_from_there_is_an_error() -> None:
    assert patched("copy", "/map/y", **{"from": "/map/none"})["map"] == {"x": 1, "y": None}
    with pytest.raises(CelError, match="cannot move `/map/y`: there is no `none`"):
        patched("move", "/map/y", **{"from": "/map/none"})


@pytest.mark.parametrize(
    ("op", "path", "why"),
    [
        ("remove", "/map/none", "there is no `none`"),
        ("remove", "/list/3", "there is no entry 3"),
        ("replace", "/list/-4", "there is no entry -4"),
        ("add", "/list/4", "there is no entry 4"),
        ("add", "/list/x", "got `x`, want an index"),
        ("add", "/map/none/a", "there is no map or list at `none`"),
        ("test", "/none/a", "there is no map or list at `none`"),
        ("add", "/text/a", "there is no map or list at `text`"),
        ("add", "nowhere", "the path has no slash"),
        ("move", "/map/y", "the path has no slash"),
    ],
)
def test_what_cannot_be_carried_out_says_why(op: str, path: str, why: str) -> None:
    with pytest.raises(CelError) as raised:
        patched(op, path)
    assert str(raised.value) == f"cannot {op} `{path}`: {why}"


def test_the_whole_object_can_be_tested_and_replaced_by_another() -> None:
    assert patched("test", "", OBJECT) == OBJECT
    assert patched("replace", "", {"a": 1}) == {"a": 1}
    with pytest.raises(CelError, match="something that is no object"):
        patched("replace", "", [])


def test_copies_that_double_the_object_again_and_again_are_refused() -> None:
    doubling = [{"op": "copy", "from": "/list", "path": "/list/-"} for _ in range(40)]
    with pytest.raises(CelError, match="copies more than"):
        apply(OBJECT, doubling, native=True)
