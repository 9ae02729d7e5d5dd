"""The syntax tree of a checked expression: small immutable nodes that know neither protobuf nor the CEL library.

The parser expands macros into folds; `macros.py` turns these back into `Loop`, `Bind` and `OptMap`, so
what follows (generator, twin, lint) sees what was written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Const:
    """A literal: None, bool, int, `Uint`, float, str or bytes."""

    id: int
    value: object


@dataclass(frozen=True, slots=True)
class Ident:
    """A name: a variable (`object`, `variables.gates`), a loop variable or a type (`int`)."""

    id: int
    name: str


@dataclass(frozen=True, slots=True)
class Select:
    """`operand.field`, or `has(operand.field)` when `test`."""

    id: int
    operand: Node
    field: str
    test: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A function or an operator (`_+_`, `_?_:_`, `_[_]`, `_?._`); `target` is the receiver."""

    id: int
    function: str
    args: tuple[Node, ...]
    target: Node | None = None

    @property
    def operands(self) -> tuple[Node, ...]:
        """The receiver, if there is one, and the arguments: what the implementation gets."""
        return self.args if self.target is None else (self.target, *self.args)


@dataclass(frozen=True, slots=True)
class ListNode:
    """`[a, ?b]`; `optional` holds the indexes of the `?` elements."""

    id: int
    elements: tuple[Node, ...]
    optional: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Entry:
    """One `key: value` of a map, or field of a structure; `?key: value` is left out when none."""

    key: Node
    value: Node
    optional: bool = False


@dataclass(frozen=True, slots=True)
class MapNode:
    """`{a: b}`, and `Object{a: b}` or `JSONPatch{…}`, whose name is `structure`."""

    id: int
    entries: tuple[Entry, ...]
    structure: str = ""


@dataclass(frozen=True, slots=True)
class Fold:
    """A comprehension as the parser hands it out; `macros.restore` leaves none of them."""

    id: int
    range: Node
    variable: str
    variable2: str
    accumulator: str
    initial: Node
    condition: Node
    step: Node
    result: Node


@dataclass(frozen=True, slots=True)
class Loop:
    """A macro over a list or map: what `kind` makes of `body` for each element that passes `filter`.

    `kind` is all, exists, exists_one, list (map, filter, transformList), map (transformMap: key →
    body), entries (transformMapEntry: body is a map) or sort (sortBy: body is the key).
    With `variable2`, `variable` is the index or key and `variable2` the element or value.
    """

    id: int
    kind: str
    range: Node
    variable: str
    variable2: str
    filter: Node | None
    body: Node


@dataclass(frozen=True, slots=True)
class OptMap:
    """`target.optMap(variable, body)`; `flat` for optFlatMap, whose body is an optional already."""

    id: int
    target: Node
    variable: str
    body: Node
    flat: bool


Node: TypeAlias = Const | Ident | Select | Call | ListNode | MapNode | Fold | Loop | OptMap


@dataclass(frozen=True, slots=True)
class Tree:
    """A whole expression. `offsets` gives each node's code point offset in `text`, `types` its CEL type."""

    root: Node
    text: str
    offsets: Mapping[int, int] = field(default_factory=dict)
    types: Mapping[int, str] = field(default_factory=dict)

    def type_of(self, node: Node) -> str:
        """Give the type the checker found, as CEL writes it: `bool`, `list(string)`, `dyn`."""
        return self.types.get(node.id, "dyn")

    @property
    def type(self) -> str:
        """The type of the whole expression."""
        return self.type_of(self.root)

    def position(self, node: Node) -> tuple[int, int]:
        """Give line and column of a node, from 1."""
        return line_and_column(self.text, self.offsets.get(node.id, 0))


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Give line and column (from 1) of a code point offset."""
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def children(node: Node) -> tuple[Node, ...]:
    """Give the direct sub-expressions, in the order they are written."""
    match node:
        case Select():
            return (node.operand,)
        case Call():
            return node.operands
        case ListNode():
            return node.elements
        case MapNode():
            return tuple(part for entry in node.entries for part in (entry.key, entry.value))
        case Fold():
            return (node.range, node.initial, node.condition, node.step, node.result)
        case Loop():
            return (node.range, *((node.filter,) if node.filter else ()), node.body)
        case OptMap():
            return (node.target, node.body)
        case _:
            return ()


def walk(node: Node) -> Iterator[Node]:
    """Give the node and everything below it, in the order they are written."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(reversed(children(current)))


def depth(node: Node) -> int:
    """Tell how many levels there are from the node down to its lowest sub-expression."""
    level, levels = [node], 0
    while level:
        level, levels = [child for one in level for child in children(one)], levels + 1
    return levels


def rebuilt(node: Node, change: Callable[[Node], Node]) -> Node:
    """Give a node with what `change` makes of its direct sub-expressions."""
    match node:
        case Select():
            return replace(node, operand=change(node.operand))
        case Call():
            return replace(node, target=node.target and change(node.target), args=tuple(map(change, node.args)))
        case ListNode():
            return replace(node, elements=tuple(map(change, node.elements)))
        case MapNode():
            entries = (Entry(change(one.key), change(one.value), one.optional) for one in node.entries)
            return replace(node, entries=tuple(entries))
        case Loop():
            filter_ = node.filter and change(node.filter)
            return replace(node, range=change(node.range), filter=filter_, body=change(node.body))
        case OptMap():
            return replace(node, target=change(node.target), body=change(node.body))
        case _:
            return node
