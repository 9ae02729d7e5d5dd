"""Which part of an expression made it false, and where the value stands that did it."""

from __future__ import annotations

from dataclasses import dataclass

from webhook.cel.frame import Frame
from webhook.cel.logic import terms
from webhook.cel.provenance import path
from webhook.cel.tree import Call, Const, Ident, Loop, Node, children
from webhook.model.path import Path


@dataclass(frozen=True, slots=True)
class Blame:
    """A part of an expression (of a variable, where `frame` is that variable's) and the path it looked at."""

    frame: Frame
    node: Node
    path: Path | None


def blame(frame: Frame, node: Node, wanted: bool = True) -> Blame:
    """Find the smallest part that made `node` other than `wanted`."""
    match node:
        case Call(function="_&&_" | "_||_"):
            return _junction(frame, node, wanted)
        case Call(function="!_", args=(operand,)):
            inner = blame(frame, operand, not wanted)
            false = inner.frame.values.get(inner.node.id) is False
            return inner if false else Blame(frame, node, inner.path)
        case Call(function="_?_:_", args=(condition, then, otherwise)):
            return blame(frame, then if frame.values.get(condition.id) is True else otherwise, wanted)
        case Loop(kind="all" | "exists") if wanted == (node.kind == "all"):
            return blame(frame, node.body, wanted)
        case Loop():
            return Blame(frame, node, first_path(frame, node.range))
        case Ident() if inner_frame := frame.session.frames.get(node.name):
            return blame(inner_frame, inner_frame.tree.root, wanted)
        case _:
            return Blame(frame, node, first_path(frame, node))


def _junction(frame: Frame, node: Call, wanted: bool) -> Blame:
    """Choose among the operands: the one that decided, or of several that agree the last that reads the object."""
    operands = [term for term in terms(node) if frame.values.get(term.id) is (not wanted)]
    if (node.function == "_&&_") == wanted:  # one operand decided it
        return blame(frame, operands[0], wanted) if operands else Blame(frame, node, None)
    blames = [blame(frame, operand, wanted) for operand in operands]
    located = [found for found in blames if found.path]
    return (located or blames or [Blame(frame, node, None)])[-1]


def first_path(frame: Frame, node: Node) -> Path | None:
    """Give the path of the first value of `object` that a part reads."""
    if isinstance(node, Const):
        return None
    found = path(frame, node)
    if found is not None:
        return found
    if isinstance(node, Ident) and (inner := frame.session.frames.get(node.name)):
        return _of_variable(inner, node.name)
    if isinstance(node, Loop):
        return first_path(frame, node.range)
    paths = (first_path(frame, child) for child in children(node))
    return next((found for found in paths if found), None)


def _of_variable(frame: Frame, name: str) -> Path | None:
    """Give the first path of a variable, looked for once, however often the variable is read."""
    known = frame.session.first_paths
    if name not in known:
        known[name] = first_path(frame, frame.tree.root)
    return known[name]


def failed(frame: Frame, error: Exception) -> tuple[list[str], Blame | None]:
    """Find where an error came from: the lazy names it came through, outermost first, and the part."""
    chain: list[str] = []
    while marked := frame.marks.get(id(error)):
        node = frame.nodes[marked[1]]
        if not (isinstance(node, Ident) and (inner := frame.session.frames.get(node.name))):
            return chain, Blame(frame, node, first_path(frame, node))
        chain.append(node.name)
        frame = inner
    return chain, None
