"""Why an expression gave what it gave: the parts that made it so, down to what was read of the object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from webhook.cel.blame import first_path
from webhook.cel.extent import source
from webhook.cel.frame import Frame
from webhook.cel.logic import terms
from webhook.cel.tree import Call, Const, Ident, Loop, Node, OptMap, Select, children
from webhook.cel.values.maps import MISSING
from webhook.model.story import Junction, Reason

_JUNCTIONS = {"_&&_": Junction.ALL, "_||_": Junction.ANY}


def reason(frame: Frame) -> Reason:
    """Tell an expression that was run; each variable is told once, where it is read first."""
    return _reason(frame, frame.tree.root, set())


def _reason(frame: Frame, node: Node, told: set[str]) -> Reason:
    value = frame.values.get(node.id)
    junction = _JUNCTIONS.get(node.function) if isinstance(node, Call) else None
    return Reason(source(frame.tree, node), value, (), tuple(_parts(frame, node, value, told)), junction)


def _parts(frame: Frame, node: Node, value: Any, told: set[str]) -> Iterator[Reason]:
    """Give the parts that decided."""
    match node:
        case Call(function="_&&_" | "_||_"):
            yield from (_reason(frame, term, told) for term in terms(node) if frame.values.get(term.id) is value)
        case Call(function="!_", args=(operand,)):
            yield from _parts(frame, operand, frame.values.get(operand.id), told)
        case Call(function="_?_:_", args=(condition, then, otherwise)):
            chosen = then if frame.values.get(condition.id) is True else otherwise
            yield from (_reason(frame, part, told) for part in (condition, chosen) if not isinstance(part, Const))
        case Loop(kind="all" | "exists") if value is (node.kind == "exists"):
            yield _reason(frame, node.body, told)  # of the element that decided
        case Ident() if isinstance(value, bool) and (inner := _unfolded(frame, node, told)):
            yield _reason(inner, inner.tree.root, told)
        case _:
            yield from _readings(frame, node, told, top=True)


def _unfolded(frame: Frame, node: Ident, told: set[str]) -> Frame | None:
    """Give the run of a variable, unless it was told before."""
    if node.name in told:
        return None
    told.add(node.name)
    return frame.session.frames.get(node.name)


def _readings(frame: Frame, node: Node, told: set[str], *, top: bool = False) -> Iterator[Reason]:
    """Give what was read for a part: names and fields as a whole, of a loop what it goes through."""
    match node:
        case Const():
            return
        case Ident() | Select() | Call(function="_[_]" | "_?._" | "_[?_]" | "orValue") if not top:
            if node.id in frame.values:
                yield _reading(frame, node, frame.values[node.id], told)
        case Loop():
            yield from _readings(frame, node.range, told)
        case OptMap():
            yield from _readings(frame, node.target, told)
        case _:
            for child in children(node):
                yield from _readings(frame, child, told)


def _reading(frame: Frame, node: Node, value: Any, told: set[str]) -> Reason:
    """Tell what a name or a field gave; of a variable that is true or false, why."""
    parts = tuple(_parts(frame, node, value, told)) if isinstance(node, Ident) and isinstance(value, bool) else ()
    text, path = source(frame.tree, node), first_path(frame, node) or ()
    return Reason(text, None, path, absent=True) if value is MISSING else Reason(text, value, path, parts)
