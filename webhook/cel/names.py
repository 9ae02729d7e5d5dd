"""The names that an expression reads: which, and the same text with others in their place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from webhook.cel.scope import binders
from webhook.cel.tree import Ident, Tree, walk


def free_names(tree: Tree) -> frozenset[str]:
    """Give the names that nothing inside binds: `object`, `release`, `variables.x`, `lookups.y`."""
    return frozenset(node.name for node in _free(tree))


def reached(trees: Mapping[str, Tree], name: str) -> frozenset[str]:
    """Give the names that an expression reads by itself, and through the variables that it reads."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        new = free_names(trees[waiting.pop()]) - found
        found |= new
        waiting += [one for one in new if one in trees]
    return frozenset(found)


def renamed(tree: Tree, names: Mapping[str, str]) -> str:
    """Give the text with each of these names replaced by an expression, which has to be one operand."""
    places = {_extent(tree, node): names[node.name] for node in _free(tree) if node.name in names}
    text = tree.text
    for start, end in sorted(places, reverse=True):
        text = text[:start] + places[start, end] + text[end:]
    return text


def _extent(tree: Tree, node: Ident) -> tuple[int, int]:
    """Find where a name begins and ends; one of two parts is said to stand at its dot."""
    offset, (first, dot, last) = tree.offsets[node.id], node.name.partition(".")
    if not dot:
        return offset, offset + len(first)
    return tree.text.rindex(first, 0, offset), tree.text.index(last, offset) + len(last)


def _free(tree: Tree) -> Iterator[Ident]:
    bound = binders(tree.root)
    for node in walk(tree.root):
        if isinstance(node, Ident) and node.id not in bound:
            yield node
