"""Optional values: a chain such as `object.?spec.?x.orValue([])` runs without making optional objects.

Inside a chain a value that is not there is the marker MISSING; `Optional` objects are made only where
an optional is a value of its own (kept in a variable, compared, put into a list).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from webhook.cel import logic
from webhook.cel.tree import Call, Node, OptMap, Select

if TYPE_CHECKING:
    from webhook.cel.generate import Generator


def is_optional(g: Generator, node: Node) -> bool:
    """Does the node make an optional: by its form, or by its type."""
    return g.tree.type_of(node).startswith("optional_type") or is_native(g, node)


def is_native(g: Generator, node: Node) -> bool:
    """Can `maybe` write the node without an `Optional` object."""
    match node:
        case Call(function="_?._" | "_[?_]" | "optional.of" | "optional.none") | OptMap():
            return True
        case Call(function="or", target=target, args=(_,)):
            return target is not None
        case Select(test=False):
            return is_optional(g, node.operand)
        case Call(function="_[_]"):
            return is_optional(g, node.args[0])
        case _:
            return False


def maybe(g: Generator, node: Node) -> str:
    """Write an optional: the expression's value, or MISSING."""
    if not is_native(g, node):
        return g.operation(node, "unwrap", g.expr(node))
    return g.seen_maybe(node, _native(g, node))


def _native(g: Generator, node: Node) -> str:
    match node:
        case Select():
            return _step(g, node, node.operand, repr(node.field))
        case Call(function="_?._" | "_[?_]" | "_[_]"):
            return _step(g, node, node.args[0], g.expr(node.args[1]))
        case Call(function="optional.of"):
            return g.expr(node.args[0])
        case Call(function="or", target=target) if target is not None:
            return _otherwise(g, target, lambda: maybe(g, node.args[0]))
        case OptMap():
            return _opt_map(g, node)
        case _:
            return "MISSING"


def _step(g: Generator, node: Node, operand: Node, key: str) -> str:
    base = maybe(g, operand) if is_optional(g, operand) else g.expr(operand)
    fast = ""
    if key.startswith(("'", '"')):
        t = g.name()
        fast = f"({t}.get({key}, MISSING) if type({t} := {base}) is dict else step({t}, {key}))"
    return g.operation(node, "step", base, key, fast=fast)


def _opt_map(g: Generator, node: OptMap) -> str:
    value = g.name("v")
    with g.bound({node.variable: value}):
        return logic.branches(
            g,
            f"({value} := {maybe(g, node.target)}) is not MISSING",
            lambda: maybe(g, node.body) if node.flat else g.expr(node.body),
            lambda: "MISSING",
        )


def _otherwise(g: Generator, target: Node, other: Callable[[], str]) -> str:
    value = g.name()
    return logic.branches(g, f"({value} := {maybe(g, target)}) is not MISSING", lambda: value, other)


def or_value(g: Generator, node: Call) -> str:
    """Write `target.orValue(default)`; the default is evaluated only where it is needed."""
    target, default = node.operands
    return _otherwise(g, target, lambda: g.expr(default))


def or_value_of_any(g: Generator, node: Call) -> str:
    """Write the same for a target that need not be an optional: see `lenient`."""
    target, default = node.operands
    if is_native(g, target):
        return or_value(g, node)
    value = g.name()
    kept = g.operation(node, "unwrap_any", g.expr(target))
    return logic.branches(g, f"({value} := {kept}) is not MISSING", lambda: value, lambda: g.expr(default))


def value(g: Generator, node: Call) -> str:
    """Write `target.value()`."""
    return _otherwise(g, node.operands[0], lambda: g.operation(node, "no_value"))


def has_value(g: Generator, node: Call) -> str:
    """Write `target.hasValue()`."""
    return f"(({g.name()} := {maybe(g, node.operands[0])}) is not MISSING)"  # named: Python warns of `1 is not …`
