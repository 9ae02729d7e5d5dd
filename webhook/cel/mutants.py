"""Mutants: an expression with one small change, as a slip of its author would make it.

What another mutant covers is not made: forcing a condition to be true, and false, catches every case
that exchanging its operator, negating it or changing a text that it compares with would catch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from webhook.cel.extent import source
from webhook.cel.measure import PRESENCE, TRUTH, points
from webhook.cel.tree import Call, Const, ListNode, Loop, MapNode, Node, OptMap, Select, Tree, children, rebuilt, walk

_NEW: Final = -1
"""The id of a node that no parser made: it has neither type nor place."""
_BOUNDARIES: Final = {"_<_": "_<=_", "_<=_": "_<_", "_>_": "_>=_", "_>=_": "_>_"}
_ARITHMETIC: Final = {"_+_": "_-_", "_-_": "_+_", "_*_": "_/_", "_/_": "_*_"}
_NUMBERS: Final = frozenset({"int", "uint", "double"})
_STEPS: Final = ("_?._", "_[?_]")
_TESTS: Final = frozenset({"_==_", "_!=_", "@in", "startsWith", "endsWith", "contains", "matches", *_STEPS, "_[_]"})
"""Functions whose text arguments decide nothing but what forcing the condition, or the chain, decides too."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed tree: `node` is what stood in the place, `after` the text of what stands there now."""

    tree: Tree
    node: Node
    after: str


def mutants(tree: Tree) -> Iterator[Mutant]:
    """Make every mutant of an expression, in the order of its parts."""
    kinds = {point.node.id: point.outcomes for point in points(tree)}
    parents = dict(_parents(tree.root, None))
    for node in walk(tree.root):
        for new, after in _changes(tree, node, parents.get(id(node)), kinds.get(node.id, ())):
            yield Mutant(replace(tree, root=_substitute(tree.root, node, new)), node, after)


def _parents(node: Node, parent: Node | None) -> Iterator[tuple[int, Node | None]]:
    """Give what each node is a part of; `dyn(…)` is no more than what it wraps."""
    yield id(node), parent
    inner = parent if isinstance(node, Call) and node.function == "dyn" else node
    for child in children(node):
        yield from _parents(child, inner)


def _changes(tree: Tree, node: Node, parent: Node | None, outcomes: tuple[str, ...]) -> Iterator[tuple[Node, str]]:
    if outcomes == TRUTH:
        yield from _forced(node, parent)
    elif outcomes == PRESENCE:
        yield Call(node.id, "optional.none", ()), "optional.none()"
    match node:
        case Const():
            yield from _constant(node, parent, forced=outcomes == TRUTH)
        case Call(function=function) if function in _BOUNDARIES:
            yield _operator(tree, node, _BOUNDARIES[function])
        case Call(function=function, args=(_, _)) if function in _ARITHMETIC and tree.type_of(node) in _NUMBERS:
            yield _operator(tree, node, _ARITHMETIC[function])
        case Call(function=function, args=(operand, key)) if function in _STEPS and _is_guard(operand, key):
            yield _unguarded(tree, node, operand, key)
        case ListNode():
            yield from _shorter(tree, node)
        case MapNode(structure=""):
            for entry in node.entries:
                left = tuple(other for other in node.entries if other is not entry)
                yield replace(node, entries=left), f"without {source(tree, entry.key)}"
        case Loop(kind="all" | "exists"):
            other = "exists" if node.kind == "all" else "all"
            yield replace(node, kind=other), f"{other}(…)"


def _forced(node: Node, parent: Node | None) -> Iterator[tuple[Node, str]]:
    """Make a condition constant, where that is not the same as making what it is a part of constant."""
    function = parent.function if isinstance(parent, Call) else ""
    if function != "_||_":
        yield Const(node.id, True), "true"
    if function != "_&&_":
        yield Const(node.id, False), "false"


def _constant(node: Const, parent: Node | None, *, forced: bool) -> Iterator[tuple[Node, str]]:
    value = node.value
    if isinstance(parent, ListNode) or forced:
        return  # leaving it out says the same
    if isinstance(value, bool):
        yield replace(node, value=not value), str(not value).lower()
    elif isinstance(value, int | float):
        more = type(value)(value + 1)
        yield replace(node, value=more), str(more)
    elif isinstance(value, str) and value and not (isinstance(parent, Call) and parent.function in _TESTS):
        yield replace(node, value=""), "''"  # an empty one stands for nothing: no slip makes something of it


def _operator(tree: Tree, node: Call, function: str) -> tuple[Node, str]:
    left, right = node.args
    sign = function.strip("_")
    return replace(node, function=function), f"{source(tree, left)} {sign} {source(tree, right)}"


def _is_guard(operand: Node, key: Node) -> bool:
    """Does the `?` of a step keep an error away: the first of a chain, but for what every object has."""
    return not _is_chain(operand) and not (isinstance(key, Const) and key.value == "metadata")


def _is_chain(node: Node) -> bool:
    """Is it optional already, so that the next step needs no guard of its own."""
    match node:
        case Call(function=function, args=(first, *_)) if function in (*_STEPS, "_[_]"):
            return function in _STEPS or _is_chain(first)
        case Select(operand=operand, test=False):
            return _is_chain(operand)
        case OptMap():
            return True
        case _:
            return False


def _unguarded(tree: Tree, node: Call, operand: Node, key: Node) -> tuple[Node, str]:
    """Read without `?`: an error where there is nothing."""
    text, read = source(tree, operand), Call(_NEW, "_[_]", (operand, key))
    if node.function == "_?._" and isinstance(key, Const):
        plain = Select(_NEW, operand, str(key.value))
        return Call(node.id, "optional.of", (plain,)), f"{text}.{key.value}"
    return Call(node.id, "optional.of", (read,)), f"{text}[{source(tree, key)}]"


def _shorter(tree: Tree, node: ListNode) -> Iterator[tuple[Node, str]]:
    for number, element in enumerate(node.elements):
        left = node.elements[:number] + node.elements[number + 1 :]
        optional = frozenset(index - (index > number) for index in node.optional if index != number)
        yield replace(node, elements=left, optional=optional), f"without {source(tree, element)}"


def _substitute(node: Node, old: Node, new: Node) -> Node:
    """Give the tree with one node exchanged."""
    return new if node is old else rebuilt(node, lambda part: _substitute(part, old, new))
