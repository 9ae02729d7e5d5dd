"""JSON Patch as the API server carries it out for a MutatingAdmissionPolicy: not all of RFC 6902, and more.

`replace` makes a key that is not there, `copy` takes null from one, an index below 0 counts from the end, and what
stands before the first slash of a path does not count. Source: `patch.go` of gopkg.in/evanphx/json-patch.v4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, Final

from webhook.cel.errors import CelError
from webhook.cel.values import equal
from webhook.model.decision import Operation


class TestFailed(Exception):
    """A `test` does not hold: nothing is to change."""


def carry_out(document: Any, operation: Operation) -> Any:
    """Carry out one operation in place, and give the document. Raises CelError where it cannot be, and TestFailed."""
    verb, path = operation["op"], operation["path"]
    try:
        if path == "" and verb == "replace":
            return operation.get("value")
        _VERBS[verb](document, operation)
    except LookupError as missing:
        raise CelError(f"cannot {verb} `{path}`: {missing.args[0]}") from None
    return document


def source(document: Any, operation: Operation) -> Any:
    """Give what a `copy` takes. Raises LookupError."""
    return _get(*_parent(document, operation.get("from", "")))


def _add(document: Any, operation: Operation) -> None:
    _put(document, operation["path"], operation.get("value"))


def _copy(document: Any, operation: Operation) -> None:
    _put(document, operation["path"], deepcopy(source(document, operation)))


def _move(document: Any, operation: Operation) -> None:
    place = _parent(document, operation.get("from", ""))
    value = _get(*place)
    _take(*place)
    _put(document, operation["path"], value)


def _remove(document: Any, operation: Operation) -> None:
    _take(*_parent(document, operation["path"]))


def _replace(document: Any, operation: Operation) -> None:
    holder, key = _parent(document, operation["path"])
    holder[_index(key, len(holder)) if isinstance(holder, list) else key] = operation.get("value")


def _test(document: Any, operation: Operation) -> None:
    found = _get(*_parent(document, operation["path"])) if operation["path"] else document
    if not equal(found, operation.get("value")):
        raise TestFailed


_VERBS: Final[Mapping[str, Callable[[Any, Operation], None]]] = {
    "add": _add,
    "copy": _copy,
    "move": _move,
    "remove": _remove,
    "replace": _replace,
    "test": _test,
}


def _parent(document: Any, path: str) -> tuple[Any, str]:
    """Find what holds the last part of a path, and that part. Raises LookupError."""
    *above, last = [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")]
    if not above:
        raise LookupError("the path has no slash")
    for part in above[1:]:
        document = _get(document, part)
        if not isinstance(document, dict | list):
            raise LookupError(f"there is no map or list at `{part}`")
    return document, last


def _get(holder: Any, key: str) -> Any:
    """Give what stands there; null for a key that no map has. Raises LookupError for an index."""
    return holder.get(key) if isinstance(holder, dict) else holder[_index(key, len(holder))]


def _put(document: Any, path: str, value: Any) -> None:
    holder, key = _parent(document, path)
    if isinstance(holder, dict):
        holder[key] = value
    else:
        holder.insert(len(holder) if key == "-" else _index(key, len(holder) + 1), value)


def _take(holder: Any, key: str) -> None:
    if isinstance(holder, list):
        del holder[_index(key, len(holder))]
    elif key in holder:
        del holder[key]
    else:
        raise LookupError(f"there is no `{key}`")


def _index(key: str, count: int) -> int:
    """Read an index of a list in which so many are possible. Raises LookupError."""
    try:
        index = int(key)
    except ValueError:
        raise LookupError(f"got `{key}`, want an index") from None
    if not -count <= index < count:
        raise LookupError(f"there is no entry {index}")
    return index % count
