"""Where in `object` the value of a sub-expression was read, from what its twin has recorded.

Nothing is evaluated here: values, chosen branches and loop positions are those of the record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from webhook.cel.scope import Binder
from webhook.cel.tree import Call, Const, Ident, ListNode, Loop, MapNode, Node, OptMap, Select
from webhook.cel.values import Optional
from webhook.cel.values.maps import MISSING
from webhook.model.path import Path

if TYPE_CHECKING:
    from webhook.cel.frame import Frame


def path(frame: Frame, node: Node) -> Path | None:
    """Give the path of a value that stands in `object`, or would stand there; None for what is computed."""
    found = _path(frame, node)
    if found is not None or _is_new(frame, node):
        return found
    return frame.session.locate(frame.values.get(node.id))


def _is_new(frame: Frame, node: Node) -> bool:
    """Is the value made by the expression itself, so that looking for it in the object would be in vain."""
    match node:
        case ListNode() | MapNode() | Loop() | Call(function="_+_"):
            return True
        case Ident():
            return node.name in frame.session.frames
        case _:
            return False


def _path(frame: Frame, node: Node) -> Path | None:
    match node:
        case Ident():
            return _of_name(frame, node)
        case Select():
            return _below(path(frame, node.operand), node.field)
        case Call(function="_?._" | "_[_]" | "_[?_]", args=(container, key)):
            return element(frame, container, _value(frame, key))
        case Call(function="dyn" | "optional.of" | "optional.ofNonZeroValue", args=(inner,)):
            return path(frame, inner)
        case Call() | OptMap():
            chosen = _chosen(frame, node)
            return path(frame, chosen) if chosen is not None else None
        case _:
            return None


def element(frame: Frame, node: Node, key: Any) -> Path | None:
    """Give the path of the element of a list or map under an index or key."""
    if isinstance(key, bool) or not isinstance(key, int | str):
        return None
    whole = _path(frame, node)
    return (*whole, key) if whole is not None else _element(frame, node, key)


def _element(frame: Frame, node: Node, key: int | str) -> Path | None:
    """Give the path of an element of something that was put together."""
    match node:
        case Ident() if inner := frame.session.frames.get(node.name):
            return _of_lazy(inner, node.name, key)
        case ListNode() if isinstance(key, int):
            present = [e for n, e in enumerate(node.elements) if not (n in node.optional and _absent(frame, e))]
            return path(frame, present[key]) if 0 <= key < len(present) else None
        case MapNode():
            value = next((e.value for e in reversed(node.entries) if _value(frame, e.key) == key), None)
            return path(frame, value) if value is not None else None
        case Call(function="_+_", args=(left, right)) if isinstance(key, int):
            length = len(frame.values.get(left.id) or ())
            return element(frame, left, key) if key < length else element(frame, right, key - length)
        case Loop(kind="list") if isinstance(key, int):
            kept = frame.kept.get(node.id, [])
            return kept[key] if 0 <= key < len(kept) else None
        case Call() | OptMap():
            chosen = _chosen(frame, node)
            return element(frame, chosen, key) if chosen is not None else None
        case _:
            return None


def _of_name(frame: Frame, node: Ident) -> Path | None:
    if binder := frame.binders.get(node.id):
        return _of_variable(frame, binder)
    if node.name in frame.paths:
        return frame.paths[node.name]
    if inner := frame.session.frames.get(node.name):
        return _of_lazy(inner, node.name)
    return () if node.name == "object" else None


def _of_lazy(frame: Frame, name: str, key: int | str | None = None) -> Path | None:
    """Give the path of a lazy name, or of its element, looked for once: each of a chain is asked more than once."""
    known = frame.session.lazy_paths
    if (name, key) not in known:
        root = frame.tree.root
        known[name, key] = path(frame, root) if key is None else element(frame, root, key)
    return known[name, key]


def _of_variable(frame: Frame, binder: Binder) -> Path | None:
    if isinstance(binder.node, OptMap):
        return path(frame, binder.node.target)
    key = frame.at.get(binder.node.id)
    return None if binder.is_key and isinstance(key, int) else element(frame, binder.node.range, key)


def _chosen(frame: Frame, node: Node) -> Node | None:
    """Give the operand whose value became the node's value, where one did."""
    match node:
        case Call(function="_?_:_", args=(condition, then, otherwise)):
            return then if frame.values.get(condition.id) is True else otherwise
        case Call(function="orValue" | "orValueOfAny" | "or", target=target, args=(default,)) if target is not None:
            return default if _absent(frame, target) and _path(frame, default) is not None else target
        case Call(function="value", target=target):
            return target
        case OptMap(target=target, body=body):
            return target if _absent(frame, target) else body
        case _:
            return None


def _absent(frame: Frame, node: Node) -> bool:
    value = frame.values.get(node.id, MISSING)
    return value is MISSING or (isinstance(value, Optional) and not value.has_value)


def _value(frame: Frame, node: Node) -> Any:
    return node.value if isinstance(node, Const) else frame.values.get(node.id)


def _below(whole: Path | None, field: str) -> Path | None:
    return None if whole is None else (*whole, field)
