"""Macros over lists and maps, as Python loops.

A loop pays for its steps before it makes them: their number times what one step costs. `all` and
`exists` stop at the element that decides, whatever errors came before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from webhook.cel import logic
from webhook.cel.costs import step_cost
from webhook.cel.tree import Loop

if TYPE_CHECKING:
    from webhook.cel.generate import Generator


def loop(g: Generator, node: Loop) -> str:
    """Write a macro; the text returned is the name of its result."""
    entries = g.expr(node.range)
    if node.kind == "sort":
        entries = g.atom(entries)
    names = {name: g.name("v") for name in (node.variable, node.variable2) if name}
    helper = "pairs" if node.variable2 else "each"
    with g.bound(names):
        steps = g.iteration(node, helper, entries, step_cost(g.tree, node))
        head = f"for {', '.join(names.values())} in {steps}:"
        if node.kind in ("all", "exists"):
            return _quantifier(g, node, head)
        if node.kind == "exists_one":
            return _exists_one(g, node, head)
        result = _collection(g, node, head)
    return g.operation(node, "F__sortByAssociatedKeys", "B", entries, result) if node.kind == "sort" else result


def _quantifier(g: Generator, node: Loop, head: str) -> str:
    result, universal = g.name(), node.kind == "all"
    g.emit(f"{result} = {universal}")
    if logic.is_certain(g, node.body):
        with g.block(head):
            _decide(g, node, result, universal)
        return result
    error = g.name("e")
    g.emit(f"{error} = None")
    with g.block(head):
        with g.block("try:"):
            _decide(g, node, result, universal)
        with g.block("except ERRORS as x:"):
            g.emit(f"{error} = first({error}, x)")
    with g.block("else:"), g.block(f"if {error} is not None:"):
        g.emit(f"raise {error}")
    return result


def _decide(g: Generator, node: Loop, result: str, universal: bool) -> None:
    with g.block(f"if {'not ' if universal else ''}{g.condition(node.body)}:"):
        g.emit(f"{result} = {not universal}")
        g.emit("break")


def _exists_one(g: Generator, node: Loop, head: str) -> str:
    count = g.name()
    g.emit(f"{count} = 0")
    with g.block(head), g.block(f"if {g.condition(node.body)}:"):
        g.emit(f"{count} += 1")
    return f"({count} == 1)"


def _collection(g: Generator, node: Loop, head: str) -> str:
    result = g.name()
    g.emit(f"{result} = {'{}' if node.kind in ('map', 'entries') else '[]'}")
    with g.block(head):
        if node.filter:
            with g.block(f"if {g.condition(node.filter)}:"):
                _gather(g, node, result)
        else:
            _gather(g, node, result)
    return result


def _gather(g: Generator, node: Loop, result: str) -> None:
    value = g.expr(node.body)
    match node.kind:
        case "map":
            key = g.variable(node.variable)
            g.emit(f"{result} = {g.operation(node, 'insert', result, key, value)}")
        case "entries":
            g.emit(f"{result} = {g.operation(node, 'insert_all', result, value)}")
        case _:
            g.emit(f"{result}.append({value})")
    g.keep(node)
