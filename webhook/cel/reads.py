"""Which fields of `object` (or `oldObject`) an expression can read, without running it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from webhook.cel.scope import binders
from webhook.cel.tree import Call, Const, Ident, Loop, Node, OptMap, Select, Tree, children, walk
from webhook.model.path import Path

ANY = "*"
"""Stands in a path for an index or key that only the object decides."""

_OBJECTS = ("object", "oldObject")
_INDEXES = ("_[_]", "_?._", "_[?_]")
_PASSED_ON = ("orValue", "or", "value", "dyn", "optional.of", "_+_")
"""Calls whose value is, or is made of, that of an operand; so is that of a choice or a filter."""


def reads(trees: Mapping[str, Tree], name: str) -> frozenset[Path]:
    """Give the paths that the expression `name`, and the variables it reads, can look at.

    `trees` are the expressions of the program by name. A path means the value there and all below it.
    """
    return frozenset(_Reader(trees, trees[name].root).paths())


class _Reader:
    def __init__(self, trees: Mapping[str, Tree], root: Node) -> None:
        self._trees = trees
        self._root = root
        self._binders = binders(root)

    def paths(self, steps: frozenset[int] = frozenset()) -> Iterator[Path]:
        """Give where each value comes from that is not only a step to another; `steps` are more of these."""
        steps |= {step.id for node in walk(self._root) for step in _steps(node)}
        for node in walk(self._root):
            if node.id not in steps:
                yield from self.origins(node)
            if isinstance(node, Ident) and node.name in self._trees:
                root = self._trees[node.name].root
                yield from _Reader(self._trees, root).paths(frozenset({root.id}))

    def origins(self, node: Node) -> set[Path]:
        """Give the places in the object that a value may have been read from."""
        match node:
            case Ident():
                return self._of_name(node)
            case Select():
                return _below(self.origins(node.operand), node.field)
            case Call(function=function, args=(container, key)) if function in _INDEXES:
                return _below(self.origins(container), key.value if isinstance(key, Const) else ANY)
            case Loop() if _filters(node):
                return self.origins(node.range)
            case OptMap():
                return self.origins(node.body)
            case _:
                return {path for operand in _passed_on(node) for path in self.origins(operand)}

    def _of_name(self, node: Ident) -> set[Path]:
        if binder := self._binders.get(node.id):
            if isinstance(binder.node, OptMap):
                return self.origins(binder.node.target)
            return _below(self.origins(binder.node.range), ANY)
        if tree := self._trees.get(node.name):
            return _Reader(self._trees, tree.root).origins(tree.root)
        return {()} if node.name in _OBJECTS else set()


def _steps(node: Node) -> Iterable[Node]:
    """Give the operands of a node that it only reads further from, or passes on."""
    match node:
        case Select():
            return (node.operand,)
        case Call(function=function) if function in _INDEXES:
            return (node.args[0],)
        case Loop():
            return (node.range, node.body) if _filters(node) else (node.range,)
        case OptMap():
            return children(node)
        case _:
            return _passed_on(node)


def _passed_on(node: Node) -> tuple[Node, ...]:
    match node:
        case Call(function="_?_:_"):
            return node.args[1:]
        case Call(function=function) if function in _PASSED_ON:
            return node.operands
        case _:
            return ()


def _filters(node: Loop) -> bool:
    return node.kind == "list" and isinstance(node.body, Ident)


def _below(paths: set[Path], step: object) -> set[Path]:
    return {(*path, step) for path in paths} if isinstance(step, int | str) else set()
