"""JSON Patch (RFC 6902): apply what a policy asks for, and say what it came to."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from webhook.cel.errors import CelError
from webhook.engine import sharing
from webhook.engine.native_patch import TestFailed, carry_out, source
from webhook.model.decision import Operation
from webhook.model.request import Object

if TYPE_CHECKING:
    from jsonpointer import JsonPointer

_MOST_OPERATIONS: Final = 10_000
"""Operations of one patch (`maxJSONPatchOperations` of the API server)."""

_MOST_COPIED: Final = 3 * 1024 * 1024
"""Characters that all `copy` operations of one patch may add (`JSONPatchMaxCopyBytes`): each can double the object."""

_ADDING: Final = ("add", "copy", "move")
_OPERATIONS: Final = ("add", "copy", "move", "remove", "replace", "test")


def apply(obj: Object, operations: Sequence[Any], *, native: bool = False) -> Object:
    """Apply operations in order. Raises CelError when one cannot be.

    What they leave alone is not copied: both versions of the object have it. A `test` that does not hold means that
    nothing at all changes. `native`: as for a MutatingAdmissionPolicy, which makes no parents that `add`, `copy` or
    `move` lack.
    """
    if len(operations) > _MOST_OPERATIONS:
        raise CelError(f"got {len(operations)} JSON Patch operations, want at most {_MOST_OPERATIONS}")
    document: Any = obj
    copied = 0
    for operation in map(_checked, operations):
        copied += _copies(document, operation, native=native)
        if copied > _MOST_COPIED:
            raise CelError(f"the patch copies more than {_MOST_COPIED} characters")
        try:
            document = _opened(document, operation)
            document = carry_out(document, operation) if native else _carried_out(document, operation)
        except TestFailed:
            return obj
    if not isinstance(document, dict):
        raise CelError("the patch replaces the whole object with something that is no object")
    return document


def _opened(document: Any, operation: Operation) -> Any:
    """Copy what an operation changes: around its path, and around where a `move` takes from."""
    document = sharing.opened(document, operation["path"])
    if operation["op"] == "move" and isinstance(operation.get("from"), str):
        document = sharing.opened(document, operation["from"])
    return document


def _carried_out(document: Any, operation: Operation) -> Any:
    """Carry out an operation in place, having made what it steps through. Raises CelError, and TestFailed."""
    import jsonpatch
    from jsonpointer import JsonPointer, JsonPointerException

    try:
        for parent in _missing_parents(document, operation, JsonPointer(operation["path"])):
            document = jsonpatch.apply_patch(document, [parent], in_place=True)
        return jsonpatch.apply_patch(document, [operation], in_place=True)
    except jsonpatch.JsonPatchTestFailed:
        raise TestFailed from None
    except (jsonpatch.JsonPatchException, JsonPointerException, TypeError) as error:
        raise CelError(f"cannot {operation['op']} `{operation['path']}`: {str(error).lower()}") from None


def difference(before: Object, after: Object) -> tuple[Operation, ...]:
    """Find the operations that lead from one object to the other; none when they are equal."""
    return tuple(sharing.operations(before, after))


def _checked(operation: Any) -> Operation:
    if not isinstance(operation, dict) or operation.get("op") not in _OPERATIONS:
        raise CelError(f"no JSON Patch operation: want `op` to be one of {', '.join(_OPERATIONS)}")
    if not isinstance(operation.get("path"), str):
        raise CelError("no JSON Patch operation: want `path` to be a JSON Pointer such as `/spec/a`")
    return operation


def _copies(document: Any, operation: Operation, *, native: bool) -> int:
    """Measure what a `copy` adds; one without a source is left to fail."""
    from jsonpointer import JsonPointerException, resolve_pointer

    if operation["op"] != "copy" or not isinstance(operation.get("from"), str):
        return 0
    try:
        found = source(document, operation) if native else resolve_pointer(document, operation["from"], None)
    except (LookupError, JsonPointerException):
        return 0
    return len(json.dumps(found))


def _missing_parents(document: Any, operation: Operation, pointer: JsonPointer) -> Iterator[Operation]:
    """Make each parent that what is added steps through and that is not there: a list before `-`, else a map."""
    if operation["op"] not in _ADDING:
        return
    node = document
    for depth, key in enumerate(pointer.parts[:-1], start=1):
        child = node.get(key) if isinstance(node, dict) else pointer.walk(node, key)
        if child is None and isinstance(node, dict):
            child = [] if pointer.parts[depth] == "-" else {}
            yield {"op": "add", "path": type(pointer).from_parts(pointer.parts[:depth]).path, "value": child}
            child = node[key]
        node = child
