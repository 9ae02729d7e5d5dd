"""JSON Patch operations → what changes where, with the values that go: for people to read."""

from __future__ import annotations

import json
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


def refined(edit: Edit) -> Iterator[Edit]:
    """Take the replacement of a map or list apart, so that what is the same in both is no part of any edit."""
    match edit.before, edit.after:
        case (dict(before),), (dict(after),) if before and after:
            yield from _entries(edit.path, before, after)
        case (list(before),), (list(after),) if before and after:
            yield from _items(edit.path, before, after)
        case (before, after) if _text(before) != _text(after):
            yield edit


def _entries(path: Path, before: Object, after: Object) -> Iterator[Edit]:
    """Compare maps; what goes goes last, so that the map is never empty on the way."""
    for key in after:
        old = (before[key],) if key in before else ()
        yield from refined(Edit((*path, key), old, (after[key],)))
    for key in before.keys() - after.keys():
        yield Edit((*path, key), (before[key],))


def _items(path: Path, before: list[Any], after: list[Any]) -> Iterator[Edit]:
    """Compare lists, from behind, so that indexes stay true."""
    import difflib  # here: reading operations does not need it

    matcher = difflib.SequenceMatcher(None, list(map(_text, before)), list(map(_text, after)), autojunk=False)
    for _, i, j, k, l in reversed(matcher.get_opcodes()):
        paired = min(j - i, l - k)
        for value in reversed(after[k + paired : l]):
            yield Edit((*path, j if j - i == paired else i + paired), (), (value,))
        for index in reversed(range(i + paired, j)):
            yield Edit((*path, index), (before[index],))
        for index in reversed(range(paired)):
            yield from refined(Edit((*path, i + index), (before[i + index],), (after[k + index],)))


def _text(value: Any) -> str:
    """Write a value so that it can be compared: `true` is not 1."""
    return json.dumps(value, sort_keys=True)
