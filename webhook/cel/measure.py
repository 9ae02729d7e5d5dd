"""What tests reach of an expression: a twin, made by the same generator, that records what decided.

A *point* is a sub-expression that can come out in several ways: the operands of `&&`, `||` and `!`, the
condition of `?:`, the predicate of a macro, `has()`, an optional chain as a whole, and the expression itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from webhook.cel import logic
from webhook.cel.generate import Generator
from webhook.cel.slots import Slot
from webhook.cel.tree import Call, Const, Loop, Node, Select, Tree, children
from webhook.cel.values import Optional
from webhook.cel.values.maps import MISSING

TRUTH: Final = ("true", "false")
PRESENCE: Final = ("present", "absent")
ELEMENTS: Final = ("elements", "none")
VALUE: Final = ("a value",)

_JUNCTIONS: Final = ("_&&_", "_||_")
_PREDICATES: Final = ("all", "exists", "exists_one")


@dataclass(frozen=True, slots=True)
class Point:
    """A sub-expression and the ways in which it can come out; `within` is the id of the point around it."""

    node: Node
    outcomes: tuple[str, ...]
    within: int | None


def points(tree: Tree, root: tuple[str, ...] | None = None) -> tuple[Point, ...]:
    """Find the points of an expression, outer ones first; `root` says how the whole of it can come out."""
    outcomes = root or (TRUTH if tree.type == "bool" and not isinstance(tree.root, Const) else VALUE)
    return tuple(_points(tree.root, outcomes, None))


def _points(node: Node, outcomes: tuple[str, ...], within: int | None) -> Iterator[Point]:
    if outcomes:
        yield Point(node, outcomes, within)
        within = node.id
    while isinstance(node, Call) and node.function == "!_":  # comes out as its operand does: one point, not two
        node = node.args[0]
    conditions = {id(condition) for condition in _conditions(node)}
    for child in _parts(node):
        yield from _points(child, TRUTH if id(child) in conditions else _own(node, child), within)


def _parts(node: Node) -> list[Node]:
    """Give the sub-expressions, those of a chain of one junction side by side."""
    if isinstance(node, Call) and node.function in _JUNCTIONS:
        return logic.terms(node)
    return list(children(node))


def _conditions(node: Node) -> Iterator[Node]:
    """Find what of a node's parts is tested for being true, and can be either."""
    match node:
        case Call(function="_&&_" | "_||_"):
            found = logic.terms(node)
        case Call(function="_?_:_"):
            found = [node.args[0]]
        case Loop(filter=filter_):
            found = [*([filter_] if filter_ else []), *([node.body] if node.kind in _PREDICATES else [])]
        case _:
            found = []
    return (one for one in found if not isinstance(one, Const))


def _own(parent: Node, node: Node) -> tuple[str, ...]:
    """How a part comes out whatever it is a part of."""
    match node:
        case Select(test=True):
            return TRUTH
        case Call(function="_?._" | "_[?_]") if not _goes_on(parent, node):
            return PRESENCE
        case _:
            return ()


def _goes_on(parent: Node, node: Node) -> bool:
    """Is a step of an optional chain followed by another one, which says more."""
    match parent:
        case Call(function="_?._" | "_[?_]" | "_[_]", args=(first, _)):
            return first is node
        case Select(test=False):
            return True
        case _:
            return False


@dataclass(slots=True)
class Record:
    """What the points of one expression have given so far: `reached` has pairs of node id and outcome."""

    tree: Tree
    points: tuple[Point, ...]
    reached: set[tuple[int, str]] = field(default_factory=set)

    def bind(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Let a twin record here."""
        return partial(_call, function, self)

    def see(self, id_: int, kind: str, value: Any) -> Any:
        """Record a value, and give it back."""
        if outcome := _TELL[kind](value):
            self.reached.add((id_, outcome))
        return value


class Meter(Generator):
    """Writes the twin: the values of points go through the record, `R`."""

    arguments = ("c", "R")

    def __init__(self, record: Record, slots: Mapping[str, Slot]) -> None:
        super().__init__(record.tree, slots)
        self._kinds = {point.node.id: point.outcomes[0] for point in record.points}

    def seen(self, node: Node, text: str) -> str:
        kind = self._kinds.get(node.id)
        return text if kind in (None, PRESENCE[0]) else f"R.see({node.id}, {kind!r}, {text})"

    def seen_maybe(self, node: Node, text: str) -> str:
        return f"R.see({node.id}, 'present', {text})" if self._kinds.get(node.id) == PRESENCE[0] else text


def _call(function: Callable[..., Any], record: Record, activation: Any, *parameters: Any) -> Any:
    return function(activation, record, *parameters)


def _truth(value: Any) -> str:
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else ""


def _presence(value: Any) -> str:
    return "absent" if value is MISSING else "present"


def _elements(value: Any) -> str:
    if isinstance(value, Optional):
        value = value.value if value.has_value else None
    return "elements" if value else "none"


def _value(value: Any) -> str:  # noqa: ARG001 - any will do
    return "a value"


_TELL: Final[Mapping[str, Callable[[Any], str]]] = {
    "true": _truth,
    "present": _presence,
    "elements": _elements,
    "a value": _value,
}
