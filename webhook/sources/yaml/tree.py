"""One YAML document as a tree of nodes, each with its place: the input of both values and positions.

The C parser of PyYAML (libyaml, of which go-yaml is a port) does the reading; nothing is resolved here. Aliases
stay nodes of their own, so that a position can be the place of use, and are counted as go-yaml counts them, so that
a few lines cannot stand for millions of nodes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import yaml

from webhook.sources.yaml.limits import MAX_DEPTH, TOO_DEEP


@dataclass(slots=True)
class Node:
    """What all nodes have: the offsets of their first character and of the one after the last."""

    start: int
    end: int


@dataclass(slots=True)
class Scalar(Node):
    """A text as the parser gives it; `plain` says that neither quotes nor a block style made it text."""

    text: str
    tag: str | None
    plain: bool
    block: bool


@dataclass(slots=True)
class Sequence(Node):
    """A list; `flow` says that it stands in brackets."""

    tag: str | None
    items: list[Node]
    flow: bool = False


@dataclass(slots=True)
class Mapping(Node):
    """Pairs in the order in which they are written, duplicates and merge keys among them; `flow`: in braces."""

    tag: str | None
    pairs: list[tuple[Node, Node]]
    flow: bool = False


@dataclass(slots=True)
class Alias(Node):
    """A use of an anchored node."""

    target: Node


class Fault(Exception):
    """What is wrong with a text, and at which offset; `earlier` says what stands at another offset and explains it."""

    def __init__(self, offset: int, message: str, earlier: tuple[str, int] | None = None) -> None:
        """Keep the places beside the message."""
        super().__init__(message)
        self.offset = offset
        self.message = message
        self.earlier = earlier


def resolved(node: Node) -> Node:
    """Give the node itself, or what it is an alias of."""
    return node.target if isinstance(node, Alias) else node


def scalars(node: Node) -> Iterator[Scalar]:
    """Walk over all scalars that are written in a tree, keys included."""
    if isinstance(node, Scalar):
        yield node
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from scalars(item)
    elif isinstance(node, Mapping):
        for key, value in node.pairs:
            yield from scalars(key)
            yield from scalars(value)


def compose(text: str) -> tuple[Node | None, int | None]:
    """Read the first document of a text; the second value is the offset of what follows its end. Raises Fault."""
    try:
        return _Composer(text).document()
    except yaml.MarkedYAMLError as error:
        raise _fault(text, error) from None


_SLASH: Final = re.compile(r"(?<!\\)(?:\\\\)*\\/")


class _Composer:
    """Recursive descent over the parser's events."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.next: Callable[[], Any] = yaml.CBaseLoader(text).get_event
        self.anchors: dict[str, Node | None] = {}
        self.sizes: dict[str, int] = {}
        self.heights: dict[str, int] = {}
        self.count = self.replayed = self.depth = self.deepest = self.flow = 0

    def document(self) -> tuple[Node | None, int | None]:
        """Compose what stands between the first start and the first end of a document."""
        self.next()
        if not isinstance(self.next(), yaml.DocumentStartEvent):
            return None, None
        root = self.node(self.next())
        self.next()
        return root, self.rest()

    def rest(self) -> int | None:
        """Find what follows after the end of the document, be it readable or not."""
        try:
            event = self.next()
        except yaml.MarkedYAMLError as error:
            return _fault(self.text, error).offset
        return None if isinstance(event, yaml.StreamEndEvent) else event.start_mark.index

    def node(self, event: Any) -> Node:
        """Compose the node that begins with this event."""
        self.count += 1
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event)
        return self.content(event) if event.anchor is None else self.anchored(event)

    def anchored(self, event: Any) -> Node:
        """Compose a node that aliases can name, and measure it."""
        name, count, deepest = event.anchor, self.count, self.deepest
        self.anchors[name] = None
        self.deepest = self.depth
        self.anchors[name] = node = self.content(event)
        self.sizes[name] = self.count - count + 1
        self.heights[name] = self.deepest - self.depth
        self.deepest = max(deepest, self.deepest)
        return node

    def content(self, event: Any) -> Node:
        """Compose a scalar, or a collection with all that is in it."""
        start, end = event.start_mark.index, event.end_mark.index
        if isinstance(event, yaml.ScalarEvent):
            if event.style == '"' and (slash := _SLASH.search(self.text, start, end)):
                raise Fault(slash.end() - 2, r"got the escape `\/`, which kubectl does not know, want `/`")
            if self.flow and event.implicit[0] and "?" in event.value:
                raise Fault(start, "got `?` in a text inside brackets, want the text in quotes")
            return Scalar(start, end, event.value, event.tag, event.implicit[0], event.style in ("|", ">"))
        self.flow += bool(event.flow_style)
        self.depth += 1
        self.reach(self.depth, start)
        node: Node
        if isinstance(event, yaml.SequenceStartEvent):
            node = Sequence(start, end, event.tag, [], bool(event.flow_style))
            while not isinstance(following := self.next(), yaml.SequenceEndEvent):
                node.items.append(self.node(following))
        else:
            node = Mapping(start, end, event.tag, [], bool(event.flow_style))
            while not isinstance(following := self.next(), yaml.MappingEndEvent):
                node.pairs.append((self.node(following), self.node(self.next())))
        node.end = following.end_mark.index
        self.depth -= 1
        self.flow -= bool(event.flow_style)
        return node

    def alias(self, event: Any) -> Alias:
        """Find the anchored node, and bound what all aliases together stand for."""
        name, start = event.anchor, event.start_mark.index
        if name not in self.anchors:
            raise Fault(start, f"got the alias `*{name}`, want an anchor `&{name}` before it")
        if (target := self.anchors[name]) is None:
            raise Fault(start, f"got the alias `*{name}` inside what `&{name}` names: it would have no end")
        self.reach(self.depth + self.heights[name], start)
        self.count += self.sizes[name]
        self.replayed += self.sizes[name]
        if self.replayed > 100 and self.count > 1000 and self.replayed / self.count > _allowed_share(self.count):
            raise Fault(start, "got aliases that stand for too much, want them written out")
        return Alias(start, event.end_mark.index, target)

    def reach(self, depth: int, offset: int) -> None:
        """Note how deep it goes, with the levels that aliases bring."""
        self.deepest = max(self.deepest, depth)
        if depth > MAX_DEPTH:
            raise Fault(offset, TOO_DEEP)


def _allowed_share(count: int) -> float:
    """Which share of all nodes may come from aliases: go-yaml's bound, 99% of small documents and 10% of large ones."""
    low, high = 400_000, 4_000_000
    return 0.99 - 0.89 * (min(max(count, low), high) - low) / (high - low)


_PROBLEMS: Final = {
    "mapping values are not allowed in this context": "got `: ` inside a value, want the value in quotes",
    "did not find expected key": "got a line that fits no level above it, want `key: value` in line with the others",
    "could not find expected ':'": "got a line without `:`, want `key: value`",
    "did not find expected '-' indicator": "got a line that is no item of the list, want `- ` in line with the others",
    "found unexpected end of stream": "got the end of the document, want the closing quote",
    "did not find expected ',' or ']'": "got no `,` or `]` where a list in brackets has to go on",
    "did not find expected ',' or '}'": "got no `,` or `}` where a map in braces has to go on",
    "did not find expected node content": "got no value, want one, in quotes if it begins with a special character",
    "found character that cannot start any token": "got a character that begins no value, want the value in quotes",
    "did not find expected <document start>": "got a `%` directive, which kubectl cannot read, want none",
    "exceeded maximum nesting depth": TOO_DEEP,
}
"""What libyaml says, and what helps people more."""


def _fault(text: str, error: yaml.MarkedYAMLError) -> Fault:
    problem, context = str(error.problem), error.context_mark
    offset = error.problem_mark.index if error.problem_mark else 0
    if context and error.context == "while scanning a simple key":
        offset = context.index
    if text.startswith("\t", offset):
        return Fault(offset, "got a tab, want spaces: YAML allows no tabs in an indentation")
    line = text[text.rfind("\n", 0, offset) + 1 : (text + "\n").index("\n", offset)]
    if "{{" in line:
        return Fault(offset, "got a template, want what comes out when it is rendered (`helm template`)")
    earlier = (error.context, context.index) if error.context and context and context.index != offset else None
    return Fault(offset, _PROBLEMS.get(problem, problem), earlier)
