"""A document as an editor sees it: its text, its tree, and what it takes to find a way between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from webhook.sources.yaml import layout, write
from webhook.sources.yaml.tree import Alias, Mapping, Node, Scalar, Sequence

UNUSUAL: Final = "it is written in a form that cannot be edited"


class Refused(Exception):
    """Why a text cannot be changed: for people, who then do it by hand."""


@dataclass(frozen=True, slots=True, order=True)
class Splice:
    """Replace the characters from `start` up to `end` by a text."""

    start: int
    end: int
    text: str = ""


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """Apply splices that do not overlap, the last first, so that offsets stay true."""
    for each in sorted(splices, reverse=True):
        text = text[: each.start] + each.text + text[each.end :]
    return text


def apart(first: Splice, second: Splice) -> list[Splice]:
    """Give two splices, as one where they meet."""
    if first.end == second.start:
        return [Splice(first.start, second.end, first.text + second.text)]
    return [first, second]


@dataclass(frozen=True, slots=True)
class Slot:
    """A place that holds a value: entry or item number `index` of `parent`."""

    parent: Mapping | Sequence
    index: int
    value: Node


class Page:
    """A text with its tree. With `json` it has to stay JSON."""

    def __init__(self, text: str, root: Node, *, json: bool = False) -> None:
        """Learn the manner of the document."""
        self.text = text
        self.root = root
        self.json = json
        self.style = write.style_of(text, root)
        self.aliases = {id(each.target): each for each in below(root) if isinstance(each, Alias)}
        """A use of each node that an alias names, by the node's identity."""

    def end(self, node: Node) -> int:
        """Give the offset behind the last character of a node."""
        return layout.end(self.text, node)

    def begin(self, slot: Slot) -> int:
        """Give the offset of the key or dash of a slot; between brackets, of the item."""
        if isinstance(slot.parent, Mapping):
            return slot.parent.pairs[slot.index][0].start
        return slot.value.start if slot.parent.flow else layout.dash(self.text, slot.parent, slot.index)

    def after(self, slot: Slot) -> int:
        """Give the offset behind the colon or dash of a slot. Raises Refused where it has none."""
        if isinstance(slot.parent, Sequence):
            return slot.value.start if slot.parent.flow else self.begin(slot) + 1
        if (found := layout.colon(self.text, slot.parent.pairs[slot.index][0])) is None:
            raise Refused(UNUSUAL)
        return found

    def quote(self, node: Node) -> str:
        """Tell the quotes of a text, or of the first text in a collection; "" where it has none."""
        if self.json:
            return '"'
        first = next((each for each in below(node) if isinstance(each, Scalar)), node)
        mark = self.text[first.start : first.start + 1]
        return mark if mark in ("'", '"') else ""


def parts(node: Mapping | Sequence) -> list[tuple[Node, Node]]:
    """Give the nodes with which each entry or item begins and ends."""
    return node.pairs if isinstance(node, Mapping) else [(item, item) for item in node.items]


def below(node: Node) -> Iterator[Node]:
    """Walk over a node and all that is written inside."""
    yield node
    if isinstance(node, Mapping | Sequence):
        for first, last in parts(node):
            yield from below(first)
            if last is not first:
                yield from below(last)
