"""From a tree of nodes to the JSON value that kubectl sends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, cast

from webhook.sources.yaml import scalars
from webhook.sources.yaml.tree import Alias, Fault, Mapping, Node, Scalar, Sequence, resolved

_COLLECTION_TAGS: Final = frozenset({None, "!", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"})


@dataclass(slots=True)
class Value:
    """What a document holds, and what is wrong with it although kubectl reads it."""

    value: Any
    faults: list[Fault] = field(default_factory=list)


def construct(root: Node) -> Value:
    """Build the value of a document. Raises Fault for what kubectl refuses."""
    constructor = _Constructor()
    return Value(constructor.value(root), constructor.faults)


def is_merge(key: Node) -> bool:
    """Is it the merge key `<<`, which stands for the pairs of another map."""
    return isinstance(key, Scalar) and key.text == "<<" and (key.plain or key.tag == scalars.MERGE)


def merged(node: Node) -> list[Node]:
    """Give the maps that a merge key names, in the order in which they are laid over one another. Raises Fault."""
    nodes = list(reversed(node.items)) if isinstance(node, Sequence) else [node]
    for each in nodes:
        if not isinstance(resolved(each), Mapping):
            raise Fault(each.start, "got something else after `<<`, want a map or a list of maps")
    return nodes


def key_text(node: Node) -> str:
    """Give the text of a key. Raises Fault."""
    target = resolved(node)
    if not isinstance(target, Scalar):
        raise Fault(
            node.start,
            "got a list or map as a key, want text (if this is a template, render it first: `helm template`)",
        )
    try:
        return scalars.key(target.text, target.tag, plain=target.plain)
    except ValueError as error:
        raise Fault(node.start, str(error)) from None


class _Constructor:
    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.shared: dict[int, Any] = {}

    def value(self, node: Node) -> Any:
        """Build one value; all uses of an anchor are one object."""
        if isinstance(node, Scalar):
            return self.scalar(node)
        if isinstance(node, Alias):
            if id(node.target) not in self.shared:
                self.shared[id(node.target)] = self.value(node.target)
            return self.shared[id(node.target)]
        if isinstance(node, Sequence):
            self.check_tag(node.tag, _COLLECTION_TAGS, node.start)
            return [self.value(item) for item in node.items]
        return self.mapping(cast("Mapping", node))

    def scalar(self, node: Scalar) -> scalars.Scalar:
        """Build a text, number, boolean or null."""
        if node.tag:
            self.check_tag(node.tag, scalars.KNOWN_TAGS, node.start)
        try:
            return scalars.resolve(node.text, node.tag, plain=node.plain)
        except ValueError as error:
            raise Fault(node.start, str(error)) from None

    def mapping(self, node: Mapping) -> dict[str, Any]:
        """Build a map. What comes last wins, be it written there or brought by a merge key."""
        self.check_tag(node.tag, _COLLECTION_TAGS, node.start)
        result: dict[str, Any] = {}
        places: dict[str, int] = {}
        for key, value in node.pairs:
            if is_merge(key):
                for each in merged(value):
                    result |= self.value(each)
                continue
            name = key_text(key)
            if name in places:
                message = f"got the key `{name}` twice, want it once"
                self.faults.append(Fault(key.start, message, ("first", places[name])))
            places[name] = key.start
            result[name] = self.value(value)
        return result

    def check_tag(self, tag: str | None, known: frozenset[str | None] | frozenset[str], place: int) -> None:
        """Report a tag that kubectl drops without a word."""
        if tag not in known:
            name = (tag or "").replace("tag:yaml.org,2002:", "!!")
            self.faults.append(Fault(place, f"got the unknown tag `{name}`, which kubectl drops: want the plain value"))
