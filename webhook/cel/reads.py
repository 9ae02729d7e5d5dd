"""Which fields of `object` (or `oldObject`) an expression can read, without running it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain

from webhook.cel.scope import binders
from webhook.cel.tree import Call, Const, Ident, Loop, Node, OptMap, Select, Tree, children, walk
from webhook.model.path import Path

ANY = "*"
"""Stands in a path for an index or key that only the object decides."""

_OBJECTS = ("object", "oldObject")
_REQUEST = "\0request"
"""Begins the path of what was read through `request`; no key of an object can be called so."""

_ADMISSION: Mapping[str, Path] = {"object": (), "oldObject": (), "request": (_REQUEST,)}

_INDEXES = ("_[_]", "_?._", "_[?_]")
_PASSED_ON = ("orValue", "orValueOfAny", "or", "value", "dyn", "optional.of", "_+_")
"""Calls whose value is, or is made of, that of an operand; so is that of a choice or a filter."""


def reads(trees: Mapping[str, Tree], name: str) -> frozenset[Path]:
    """Give the paths that the expression `name`, and the variables it reads, can look at.

    `trees` are the expressions of the program by name. A path means the value there and all below it.
    """
    readers: dict[str, Reader] = {}
    found = set(Reader(trees[name].root, trees, readers, _ADMISSION).paths())
    for reader in list(readers.values()):
        found.update(reader.paths(frozenset({reader.root.id})))
    return frozenset(chain.from_iterable(map(_in_object, found)))


def _in_object(path: Path) -> Iterator[Path]:
    """Give the place in the object itself: `request` has it too, beside what is no object's."""
    if path[:1] != (_REQUEST,):
        yield path
    elif len(path) == 1 or path[1] in (*_OBJECTS, ANY):
        yield path[2:]


class Reader:
    """Looks at one expression; `readers` are those of the variables, made when one is first met.

    `roots` are the names whose parts are of interest, and the path that each stands for.
    """

    def __init__(
        self, root: Node, trees: Mapping[str, Tree], readers: dict[str, Reader], roots: Mapping[str, Path]
    ) -> None:
        self.root = root
        self._readers = readers
        self._roots = roots
        self._binders = binders(root)
        for node in walk(root):
            if isinstance(node, Ident) and node.name in trees and node.name not in readers:
                readers[node.name] = Reader(trees[node.name].root, trees, readers, roots)

    @cached_property
    def result(self) -> set[Path]:
        """Where the value of the whole expression may have been read from."""
        return self.origins(self.root)

    def paths(self, steps: frozenset[int] = frozenset()) -> Iterator[Path]:
        """Give where each value comes from that is not only a step to another; `steps` are more of these."""
        steps |= {step.id for node in walk(self.root) for step in steps_of(node)}
        for node in walk(self.root):
            if node.id not in steps:
                yield from self.origins(node)

    def origins(self, node: Node) -> set[Path]:
        """Give the places in the object that a value may have been read from."""
        match node:
            case Ident():
                return self._of_name(node)
            case Select():
                return below(self.origins(node.operand), node.field)
            case Call(function=function, args=(container, key)) if function in _INDEXES:
                return below(self.origins(container), _step(key))
            case Loop() if _passes_elements_on(node):
                return self.origins(node.range)
            case OptMap():
                return self.origins(node.body)
            case _:
                return {path for operand in _passed_on(node) for path in self.origins(operand)}

    def _of_name(self, node: Ident) -> set[Path]:
        if binder := self._binders.get(node.id):
            if isinstance(binder.node, OptMap):
                return self.origins(binder.node.target)
            return below(self.origins(binder.node.range), ANY)
        if reader := self._readers.get(node.name):
            return reader.result
        return {self._roots[node.name]} if node.name in self._roots else set()


def _step(key: Node) -> str:
    """Give the step to a key. An index may count what a filter or a map's values left, so it stands for any."""
    return key.value if isinstance(key, Const) and isinstance(key.value, str) else ANY


def steps_of(node: Node) -> Iterable[Node]:
    """Give the operands of a node that it only reads further from, or passes on."""
    match node:
        case Select():
            return (node.operand,)
        case Call(function=function) if function in _INDEXES:
            return (node.args[0],)
        case Loop():
            return (node.range, node.body) if _passes_variable_on(node) else (node.range,)
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


def _passes_elements_on(node: Loop) -> bool:
    """Is the value a list of elements of the range: those that a filter leaves, or all of them sorted."""
    return node.kind == "sort" or _passes_variable_on(node)


def _passes_variable_on(node: Loop) -> bool:
    variables = (node.variable, node.variable2)
    return node.kind == "list" and isinstance(node.body, Ident) and node.body.name in variables


def below(paths: Iterable[Path], step: str) -> set[Path]:
    """Give the paths one step further."""
    return {(*path, step) for path in paths}
