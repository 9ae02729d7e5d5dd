"""Loops: over keys that are taken for values, and over so much that the cost budget runs out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from webhook.cel.costs import cost, step_cost
from webhook.cel.errors import EXPRESSION_LIMIT
from webhook.cel.tree import Call, Ident, ListNode, Loop, MapNode, Node, Select, children, walk
from webhook.model.diagnosis import Level
from webhook.model.lint import Check, Finding
from webhook.runs.lint.met import Met, Round
from webhook.runs.lint.subject import Part, Subject, finding

KEY: Final = Check(
    "key-for-value",
    Level.ERROR,
    "a field of a loop variable that is a key",
    "a loop with one variable goes through the keys of a map: text without fields, so has() is false and reading fails",
)
COSTLY: Final = Check(
    "costly-loops",
    Level.WARNING,
    "loops within loops over lists without a bound",
    "Kubernetes stops an expression that costs more than its budget, and the request is answered by failurePolicy",
)

_MANY: Final = 50
"""Items of each list with which an expression should do."""


def check(subject: Subject, met: Met) -> Iterator[Finding]:
    """Find loops over a map whose variable is taken for a value, and expressions that cost too much."""
    for one in met.loops:
        if one.shape.is_map and not one.node.variable2:
            yield from _key(subject, one)
    for part in subject.parts.values():
        if any(isinstance(node, Loop) for node in walk(part.tree.root)):
            yield from _costly(subject, part)


def _key(subject: Subject, one: Round) -> Iterator[Finding]:
    name, text = one.node.variable, one.part.text(one.node.range)
    for node in walk(one.node.body):
        match node:
            case Select(operand=Ident(name=operand), field=field) if operand == name:
                message = f"`{name}` is a key of `{text}`, and text has no field `{field}`"
                yield finding(
                    KEY,
                    subject,
                    one.part,
                    node,
                    message,
                    f"read `{text}[{name}].{field}`, or name two variables: `({name}, value, …)`",
                )
                return


def _costly(subject: Subject, part: Part) -> Iterator[Finding]:
    root = part.tree.root
    squared = next((pair for node in walk(root) if isinstance(node, Loop) and (pair := _itself(part, node))), None)
    if squared is None and _cost(part, root, _MANY) <= EXPRESSION_LIMIT:
        return
    least = 1
    while _cost(part, root, least) <= EXPRESSION_LIMIT:
        least += max(least // 20, 1)
    deepest = squared or max((node for node in walk(root) if isinstance(node, Loop)), key=_depth)
    again = f"goes through `{part.text(squared.range)}` for each of its own items, and " if squared else ""
    message = f"{again}costs more than the budget of {EXPRESSION_LIMIT:,} units from about {least} items on"
    yield finding(
        COSTLY,
        subject,
        part,
        deepest,
        message,
        "compute the inner list once, in a variable, or look members up with `in`",
    )


def _itself(part: Part, outer: Loop) -> Loop | None:
    """Find a loop inside a loop over the same list."""
    for node in walk(outer.body):
        if isinstance(node, Loop) and not _is_written(node.range) and part.text(node.range) == part.text(outer.range):
            return node
    return None


def _is_written(node: Node) -> bool:
    return isinstance(node, ListNode | MapNode)


def _depth(node: Node) -> int:
    return max((_depth(child) for child in children(node)), default=0) + isinstance(node, Loop)


def _cost(part: Part, node: Node, items: int) -> int:
    """Give what an expression costs where each list that is not written out has so many items."""
    return cost(part.tree, node) + _steps(part, node, items)


def _steps(part: Part, node: Node, items: int) -> int:
    """Give what the steps of the loops in a node cost, besides the node itself."""
    if not isinstance(node, Loop):
        return sum(_steps(part, child, items) for child in children(node))
    inside = [node.body, *([node.filter] if node.filter else [])]
    step = step_cost(part.tree, node) + sum(_steps(part, one, items) for one in inside)
    return _steps(part, node.range, items) + _length(node.range, items) * step


def _length(node: Node, items: int) -> int:
    match node:
        case ListNode(elements=elements):
            return len(elements)
        case MapNode(entries=entries):
            return len(entries)
        case Call(function="lists.range"):
            return items
        case Loop(range=inner, kind="list"):
            return _length(inner, items)
        case _:
            return items
