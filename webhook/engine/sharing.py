"""Versions of one object share what has not changed: nobody copies it, and nobody compares it."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

from webhook.model.decision import Operation


def opened(document: Any, path: str) -> Any:
    """Copy what holds the place of a JSON Pointer, from the root on, so that it can be changed there.

    What is not there, or cannot be stepped into, is left to whoever makes the change.
    """
    root = node = copy(document)
    for part in path.split("/")[1:-1]:
        key: Any = part.replace("~1", "/").replace("~0", "~")
        try:
            key = int(key) if isinstance(node, list) else key
            child = node[key]
        except (LookupError, TypeError, ValueError):
            break
        node[key] = node = copy(child)
    return root


def operations(before: Any, after: Any, path: str = "") -> Iterator[Operation]:
    """Find what leads from one map or list to another; the library compares only what they do not share."""
    if before is after:
        return
    if isinstance(before, list) and isinstance(after, list):
        yield from _of_elements(before, after, path)
    elif isinstance(before, dict) and isinstance(after, dict):
        yield from _of_members(before, after, path)


def _of_members(before: dict[str, Any], after: dict[str, Any], path: str) -> Iterator[Operation]:
    left = {key: value for key, value in before.items() if key not in after or after[key] is not value}
    right = {key: value for key, value in after.items() if key not in before or before[key] is not value}
    if left.keys() == right.keys():
        for key in [key for key in left if _comparable(left[key], right[key])]:
            place = key.replace("~", "~0").replace("/", "~1")
            yield from operations(left.pop(key), right.pop(key), f"{path}/{place}")
    yield from _compared(left, right, path)


def _of_elements(before: list[Any], after: list[Any], path: str) -> Iterator[Operation]:
    shortest = min(len(before), len(after))
    head = next((index for index in range(shortest) if before[index] is not after[index]), shortest)
    left, right = before[head:], after[head:]
    while left and right and left[-1] is right[-1]:
        del left[-1], right[-1]
    if len(left) == len(right) == 1 and _comparable(left[0], right[0]):
        yield from operations(left[0], right[0], f"{path}/{head}")
    else:
        yield from _compared(left, right, path, head)


def _comparable(left: Any, right: Any) -> bool:
    return any(isinstance(left, kind) and isinstance(right, kind) for kind in (dict, list))


def _compared(before: Any, after: Any, path: str, head: int | None = None) -> Iterator[Operation]:
    """Have them compared. Of a list, `head` elements are left out before the first."""
    import jsonpatch

    for operation in jsonpatch.make_patch(before, after) if before or after else ():
        yield operation | {
            name: path + _behind(operation[name], head) for name in ("path", "from") if name in operation
        }


def _behind(place: str, head: int | None) -> str:
    if not head:
        return place
    index, slash, rest = place[1:].partition("/")
    return f"/{int(index) + head}{slash}{rest}"
