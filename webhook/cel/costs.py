"""What evaluating a node costs, as far as that is known before it runs.

The units are cel-go's (`interpreter/runtimecost.go`) with the API server's settings: a name, a field or an
operator costs 1, a list that is made 10, a map 30, an object 40; `&&`, `||`, `?:` and `has` are free. Of
branches the dearest counts, and of `&&` and `||` both sides. What depends on sizes is charged while it
runs, by the functions themselves; so are the steps of loops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from webhook.cel.functions import FUNCTIONS
from webhook.cel.tree import Call, Const, Ident, ListNode, Loop, MapNode, Node, OptMap, Select, Tree, children
from webhook.cel.values.arithmetic import text_cost

_FREE: Final = frozenset({"_&&_", "_||_", "_?_:_", "orValue", "orValueOfAny", "or"})
_LIST, _MAP, _OBJECT = 10, 30, 40
_STEPS: Final = {"all": 3, "exists": 4, "exists_one": 0, "list": 12, "map": 3, "entries": 2, "sort": 12}
"""What one step of a macro costs beside its condition and its body: what the parser makes of it.

`exists_one` has two units more for an element that is counted, of which there are few.
"""


def step_cost(tree: Tree, loop: Loop) -> int:
    """Give what one step of a loop costs; loops inside it pay for their own steps."""
    parts = [loop.body, *([loop.filter] if loop.filter else [])]
    return _STEPS[loop.kind] + sum(cost(tree, part) for part in parts)


def cost(tree: Tree, node: Node) -> int:
    """Give what evaluating a node once costs, without what is charged while it runs."""
    match node:
        case Const():
            return 0
        case Ident():
            return 0 if tree.type_of(node).startswith("type(") else 1 + node.name.count(".")
        case Select():
            return cost(tree, node.operand) + (not node.test)
        case Loop():
            return 1 + (node.kind == "exists_one") + cost(tree, node.range)
        case OptMap():
            return 2 * cost(tree, node.target) + cost(tree, node.body) + (2 if node.flat else 3)
        case ListNode() | MapNode() if is_constant(node):
            return 0
        case Call(function="_?_:_", args=(condition, *branches)):
            return cost(tree, condition) + max(cost(tree, branch) for branch in branches)
        case _:
            return _own(node) + sum(cost(tree, child) for child in children(node))


def _own(node: Node) -> int:
    match node:
        case ListNode():
            return _LIST
        case MapNode():
            return _OBJECT if node.structure else _MAP
        case Call(function=name) if name in _FREE:
            return 0
        case Call(function="@in", args=(_, ListNode() as elements)) if is_constant(elements):
            return 0
        case Call(function=name) if measure := _MEASURED.get(name):
            return measure(node)
        case Call(function=name) if name in FUNCTIONS and FUNCTIONS[name].charges:
            return 0
        case _:
            return 1


def is_constant(node: Node) -> bool:
    """Is it a literal of literals, which the API server computes when it compiles."""
    return all(isinstance(child, Const) or (bool(children(child)) and is_constant(child)) for child in children(node))


def _of_last(node: Call) -> int:
    """Give what reading the last argument costs: a literal by its length, any other counts as a short one."""
    match node.args:
        case (*_, Const(value=str(text))):
            return text_cost(len(text))
        case _:
            return 1


_MEASURED: Final[dict[str, Callable[[Call], int]]] = {
    "startsWith": _of_last,
    "endsWith": _of_last,
    "string": lambda _: 1,  # charges for bytes only
    "bytes": lambda _: 1,
}
