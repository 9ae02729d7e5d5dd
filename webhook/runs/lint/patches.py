"""Which places of the object a mutation or a fix changes, as far as they are written out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from webhook.cel.tree import Call, Const, MapNode, Node, walk
from webhook.model.path import unpoint
from webhook.runs.lint.subject import Part

Place = tuple[str, ...]
"""Steps from the object's root; indexes are text, `-` is the end of a list."""


@dataclass(frozen=True, slots=True)
class Change:
    """One place. `whole`: all of it is written out; else what is computed follows."""

    node: Node
    place: Place
    whole: bool = True


def changes(part: Part) -> Iterator[Change]:
    """Give the places of `JSONPatch{…}` operations, wherever these stand, and of the `Object{…}` that is merged."""
    for node in walk(part.tree.root):
        if isinstance(node, MapNode) and node.structure == "JSONPatch":
            for entry in node.entries:
                if isinstance(entry.key, Const) and entry.key.value in ("path", "from"):
                    yield from _written(entry.value)
    if isinstance(part.tree.root, MapNode) and part.tree.root.structure == "Object":
        yield from _leaves(part.tree.root, ())


def _written(value: Node) -> Iterator[Change]:
    first = value
    while isinstance(first, Call) and first.function == "_+_":
        first = first.args[0]
    if isinstance(first, Const) and isinstance(first.value, str):
        place = unpoint(first.value)
        yield Change(value, place if first is value else place[:-1], first is value)


def _leaves(node: Node, place: Place) -> Iterator[Change]:
    """Give the fields that an `Object{…}` sets."""
    if not isinstance(node, MapNode):
        yield Change(node, place)
        return
    for entry in node.entries:
        if isinstance(entry.key, Const):
            yield from _leaves(entry.value, (*place, str(entry.key.value)))
