"""What has to be kept of an object from outside so that expressions decide about it as they would about all of it.

`reads` tells what an expression looks at. Here it counts, too, that something is there at all: an object that is not
null, a map that has a key, a list of so many elements.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from webhook.cel.reads import ANY, Reader, below, steps_of
from webhook.cel.tree import Call, Const, Loop, Node, Select, Tree, walk
from webhook.model.path import Path

_GLANCES = ("type", "hasValue")
"""Calls for which it is enough that their operand is there, and of its type."""


@dataclass(frozen=True, slots=True)
class Needs:
    """Paths, `*` for any element or key: of `whole` all that is below, of `present` that it is there, and its type.

    The path () is the object itself.
    """

    whole: frozenset[Path] = frozenset()
    present: frozenset[Path] = frozenset()

    def __or__(self, other: Self) -> Needs:
        return Needs(self.whole | other.whole, self.present | other.present)

    def covers(self, other: Needs) -> bool:
        """Is everything kept that the other needs."""
        return other.whole <= self.whole and other.present <= self.present

    def of_elements(self) -> Needs:
        """Give what is needed of each element, where the path () is a list."""
        return Needs(_of_elements(self.whole), frozenset(path[1:] for path in self.present if path))


def needs(trees: Mapping[str, Tree], names: Iterable[str], root: str) -> Needs:
    """Give what the functions `names`, and the variables that they read, need of what is called `root`."""
    variables: dict[str, Reader] = {}
    functions = [Reader(trees[name].root, trees, variables, {root: ()}) for name in names]
    whole: set[Path] = set()
    present: set[Path] = set()
    for reader in functions:
        _look(reader, set(), whole, present)
    for reader in variables.values():
        _look(reader, {reader.root.id}, whole, present)  # who reads the variable tells what of its value
    return Needs(frozenset(whole), frozenset(present))


def _look(reader: Reader, glances: set[int], whole: set[Path], present: set[Path]) -> None:
    counted: set[int] = set()
    for node in walk(reader.root):
        glances.update(each.id for each in (*steps_of(node), *_glances(node)))
        counted.update(each.id for each in _counted(node))
    for node in walk(reader.root):
        origins = reader.origins(node)
        if node.id in counted:
            present |= below(origins, ANY)
        elif node.id in glances or (isinstance(node, Select) and node.test):
            present |= origins
        else:
            whole |= origins


def _glances(node: Node) -> Iterable[Node]:
    match node:
        case Call(function="_==_" | "_!=_", args=(one, other)):
            return [each for each, against in ((one, other), (other, one)) if _is_null(against)]
        case Call(function=function) if function in _GLANCES:
            return node.operands
        case _:
            return ()


def _counted(node: Node) -> Iterable[Node]:
    """Give the operands whose elements are counted, or gone through, be it without a look at them."""
    match node:
        case Loop():
            return (node.range,)
        case Call(function="size"):
            return node.operands
        case _:
            return ()


def _is_null(node: Node) -> bool:
    return isinstance(node, Const) and node.value is None


def _of_elements(paths: frozenset[Path]) -> frozenset[Path]:
    return frozenset(path[1:] for path in paths)
