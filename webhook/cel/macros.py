"""Turns the folds that the parser makes of macros back into `Loop` and `OptMap` nodes.

Macros are the only source of folds, so a fold of no known shape is a fault of ours and raises ValueError.
The shapes are those of the CEL specification's macro expansions and of the two-variable
comprehensions extension.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from webhook.cel.tree import Call, Const, Entry, Fold, Ident, ListNode, Loop, MapNode, Node, OptMap, Select

_UNUSED: Final = "#unused"


def restore(node: Node, sorts: frozenset[int] = frozenset()) -> Node:
    """Give the tree with every macro as it was written; folds whose id is in `sorts` were `sortBy`."""
    return _Restorer(sorts).restore(node)


class _Restorer:
    def __init__(self, sorts: frozenset[int]) -> None:
        self._sorts = sorts

    def restore(self, node: Node) -> Node:
        match node:
            case Fold():
                return self._loop(node)
            case Call(function="_?_:_", args=(_, body, _)) if bind := _bind(body):
                return self._opt_map(node.id, bind, flat=bind is body)
            case Call():
                target = self.restore(node.target) if node.target else None
                return replace(node, target=target, args=tuple(map(self.restore, node.args)))
            case Select():
                return replace(node, operand=self.restore(node.operand))
            case ListNode():
                return replace(node, elements=tuple(map(self.restore, node.elements)))
            case MapNode():
                return replace(node, entries=tuple(map(self._entry, node.entries)))
            case _:
                return node

    def _entry(self, entry: Entry) -> Entry:
        return replace(entry, key=self.restore(entry.key), value=self.restore(entry.value))

    def _opt_map(self, id_: int, bind: Fold, *, flat: bool) -> OptMap:
        match bind.initial:
            case Call(function="value", target=target) if target is not None:
                return OptMap(id_, self.restore(target), bind.accumulator, self.restore(bind.result), flat)
            case _:
                raise ValueError(f"fold {bind.id} names something else than the value of an optional")

    def _loop(self, fold: Fold) -> Loop:
        filter_, step = _filtered(fold)
        kind, body = _step(fold.accumulator, step)
        if kind == "exists_one" and filter_ is not None:
            body, filter_ = filter_, None
        if fold.id in self._sorts:
            kind = "sort"
        return Loop(
            fold.id,
            kind,
            self.restore(fold.range),
            fold.variable,
            fold.variable2,
            self.restore(filter_) if filter_ else None,
            self.restore(body),
        )


def _bind(body: Node) -> Fold | None:
    """Find the fold over nothing that optMap (inside `optional.of`) and optFlatMap use to name a value."""
    match body:
        case Call(function="optional.of", args=(Fold(range=ListNode(elements=())) as fold,)):
            return fold if fold.variable == _UNUSED else None
        case Fold(range=ListNode(elements=()), variable=name) if name == _UNUSED:
            return body
        case _:
            return None


def _filtered(fold: Fold) -> tuple[Node | None, Node]:
    """Split `p ? step : accumulator` into the condition and the step."""
    match fold.step:
        case Call(function="_?_:_", args=(condition, step, Ident(name=fold.accumulator))):
            return condition, step
        case _:
            return None, fold.step


def _step(accumulator: str, step: Node) -> tuple[str, Node]:
    """Tell the kind of a loop, and what it computes of each element, from how the accumulator grows."""
    match step:
        case Call(args=(Ident(name=name), *_)) if name != accumulator:
            pass
        case Call(function="_&&_", args=(_, predicate)):
            return "all", predicate
        case Call(function="_||_", args=(_, predicate)):
            return "exists", predicate
        case Call(function="_+_", args=(_, ListNode(elements=(element,)))):
            return "list", element
        case Call(function="_+_", args=(_, Const(value=1) as one)):
            return "exists_one", one
        case Call(function="cel.@mapInsert", args=(_, _, value)):
            return "map", value
        case Call(function="cel.@mapInsert", args=(_, entries)):
            return "entries", entries
    raise ValueError("the parser made a fold of a shape that no macro has")
