"""JSON Patch operations → what changes where, with the values that go: for people to read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from webhook.engine.patch import apply
from webhook.model.decision import Operation
from webhook.model.path import Path, walk
from webhook.model.request import Object
from webhook.model.result import Edit


def edits(obj: Object, operations: Sequence[Operation]) -> Iterator[Edit]:
    """Follow operations that are known to apply, one after the other, through the object that they change."""
    for operation in operations:
        path = path_of(obj, operation["path"])
        found, before = walk(obj, path)
        match operation["op"]:
            case "add" if found and not isinstance(path[-1], int):
                yield Edit(path, (before,), (operation["value"],))
            case "add":
                yield Edit(path, (), (operation["value"],))
            case "replace":
                yield Edit(path, (before,), (operation["value"],))
            case "remove":
                yield Edit(path, (before,))
            case "move" | "copy" as op:
                source = path_of(obj, operation["from"])
                _, value = walk(obj, source)
                if op == "move":
                    yield Edit(source, (value,))
                yield Edit(path, (before,) if found and not isinstance(path[-1], int) else (), (value,))
        obj = apply(obj, [operation])


def path_of(obj: Any, pointer: str) -> Path:
    """Read a JSON Pointer (RFC 6901) as a path in this object, which tells indexes from keys."""
    steps: list[str | int] = []
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        step: str | int = key
        if isinstance(obj, list):
            step = len(obj) if key == "-" else int(key)
        steps.append(step)
        _, obj = walk(obj, (step,))
    return tuple(steps)
