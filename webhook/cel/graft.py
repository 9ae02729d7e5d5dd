"""Puts a tree together again of the trees of its parts (`cuts.py`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from webhook.cel.cuts import Part
from webhook.cel.tree import Call, Ident, Node, Tree, rebuilt

_PRESENCE, _STEP = -1, -2
"""Ids, below those of a part's own nodes, for what is put around it."""
_ROOM: Final = 3


def graft(tree: Tree, inner: Mapping[str, Tree], part: Part, last: int) -> Tree:
    """Give the tree of a part with the trees of `inner` where their names stand; its own ids come after `last`."""
    first = last + _ROOM

    def change(node: Node) -> Node:
        if isinstance(node, Ident) and node.name in inner:
            return inner[node.name].root
        return replace(rebuilt(node, change), id=node.id + first)

    own = Tree(
        change(tree.root),
        tree.text,
        {id_ + first: offset for id_, offset in tree.offsets.items()},
        {id_ + first: type_ for id_, type_ in tree.types.items()},
    )
    offsets, types = own.offsets, own.types
    for other in inner.values():
        offsets, types = {**other.offsets, **offsets}, {**other.types, **types}
    return _wrapped(replace(own, offsets=offsets, types=types), part, first)


def _wrapped(tree: Tree, part: Part, first: int) -> Tree:
    """Write `variables.?x` as `optional.of(variables.x)`, and `has(variables.x)` as whether that has a value.

    It has one, but reading it may fail, as in the API server.
    """
    if part.kind not in ("presence", "step"):
        return tree
    step = Call(first + _STEP, "optional.of", (tree.root,))
    types = {**tree.types, step.id: f"optional_type({tree.type})"}
    offsets = {**tree.offsets, step.id: tree.offsets[tree.root.id]}
    if part.kind == "step":
        return replace(tree, root=step, types=types, offsets=offsets)
    root = Call(first + _PRESENCE, "hasValue", (step,))
    return replace(tree, root=root, types={**types, root.id: "bool"}, offsets={**offsets, root.id: part.opening})
