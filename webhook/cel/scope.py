"""Which loop or optMap each loop variable belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from webhook.cel.tree import Ident, Loop, Node, OptMap, children


@dataclass(frozen=True, slots=True)
class Binder:
    """What gives a variable its value: the element of a loop, its index or key, or the value of an optional."""

    node: Loop | OptMap
    is_key: bool = False


def binders(root: Node) -> dict[int, Binder]:
    """Give the binder of every loop variable that is read, by the id of the `Ident`."""
    found: dict[int, Binder] = {}
    _walk(root, {}, found)
    return found


def _walk(node: Node, scope: Mapping[str, Binder], found: dict[int, Binder]) -> None:
    match node:
        case Ident() if binder := scope.get(node.name):
            found[node.id] = binder
        case Loop():
            _walk(node.range, scope, found)
            inner = {**scope, **_bound(node)}
            for part in (node.filter, node.body):
                if part is not None:
                    _walk(part, inner, found)
        case OptMap():
            _walk(node.target, scope, found)
            _walk(node.body, {**scope, node.variable: Binder(node)}, found)
        case _:
            for child in children(node):
                _walk(child, scope, found)


def _bound(loop: Loop) -> dict[str, Binder]:
    if loop.variable2:
        return {loop.variable: Binder(loop, is_key=True), loop.variable2: Binder(loop)}
    return {loop.variable: Binder(loop)}
