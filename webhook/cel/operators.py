"""Operators and functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from webhook.cel import logic, optionals
from webhook.cel.costs import is_constant
from webhook.cel.functions import FUNCTIONS
from webhook.cel.namespace import function_name
from webhook.cel.tree import Call, Const, Ident, ListNode, Node

if TYPE_CHECKING:
    from webhook.cel.generate import Generator

_Writer = Callable[["Generator", Call], str]

_CLASSES: Final = {"map": "dict", "list": "list", "string": "str", "int": "int", "double": "float", "bool": "bool"}
"""The Python class that most values of a type have, all of whose instances have that type."""

_SHORT: Final = 4
"""Up to so many strings a tuple is searched faster than a set, whose use needs a test of the type."""

_SHORT_TEXT: Final = 100
"""Searching a string of so many characters counts for one unit, and is not worth a call."""


def call(g: Generator, node: Call) -> str:
    """Write an operator or a function."""
    if writer := _OPERATORS.get(node.function):
        return writer(g, node)
    if writer := _METHODS.get(node.function):
        return writer(g, node)
    return function(g, node)


def function(g: Generator, node: Call) -> str:
    """Write the call of a function of the libraries."""
    arguments = [g.expr(operand) for operand in node.operands]
    if FUNCTIONS[node.function].charges:
        arguments.insert(0, "B")
    return g.operation(node, function_name(node.function), *arguments)


def _equality(g: Generator, node: Call) -> str:
    """`==` and `!=`. A string, null or bool on one side makes Python's own comparison right."""
    left, right = node.args
    if isinstance(left, Const) and not isinstance(right, Const):
        left, right = right, left
    equal = node.function == "_==_"
    helper = "equal" if equal else "unequal"
    if not isinstance(right, Const) and not _type_test(g, left, right):
        return g.operation(node, "same" if equal else "differ", "B", g.expr(left), g.expr(right))
    if tested := _type_test(g, left, right):
        return _of_type(g, node, helper, *tested)
    a, b = g.expr(left), g.expr(right)
    sign = _equality_sign(g, left, right, equal)
    if sign:
        return g.operation(node, helper, a, b, fast=f"({a} {sign} {b})")
    if isinstance(right, Const) and type(right.value) is int:
        t, sign = g.name(), "==" if equal else "!="
        fast = f"({t} {sign} {b} if type({t} := {a}) is int else {helper}({t}, {b}))"
        return g.operation(node, helper, a, b, fast=fast)
    return g.operation(node, helper, a, b)


def _type_test(g: Generator, left: Node, right: Node) -> tuple[Call, Ident] | None:
    """Recognize `type(x) == map`."""
    for call, name in ((left, right), (right, left)):
        if isinstance(call, Call) and call.function == "type" and isinstance(name, Ident):
            return (call, name) if name.name in _CLASSES and g.is_type(name) else None
    return None


def _of_type(g: Generator, node: Call, helper: str, call: Call, name: Ident) -> str:
    """Write a test of a value's type: Python's own where it is the usual class, else CEL's."""
    x, t, cel_name, python_name = g.expr(call.operands[0]), g.name(), name.name, _CLASSES[name.name]
    a = g.seen(call, g.operation(call, "type_of", x))
    if node.function == "_==_":
        fast = f"(type({t} := {x}) is {python_name} or type_of({t}).name == {cel_name!r})"
    else:
        fast = f"(type({t} := {x}) is not {python_name} and type_of({t}).name != {cel_name!r})"
    return g.operation(node, helper, a, g.expr(name), fast=fast)


def _equality_sign(g: Generator, left: Node, right: Node, equal: bool) -> str:
    """Give the Python operator that is right whatever the operands are, or nothing."""
    if isinstance(right, Const) and (right.value is None or isinstance(right.value, bool)):
        return "is" if equal else "is not"
    types = {g.tree.type_of(left), g.tree.type_of(right)}
    if types & {"string", "bytes"} or types == {"int"}:
        return "==" if equal else "!="
    return ""


def _order(g: Generator, node: Call) -> str:
    helper, sign = _ORDERS[node.function]
    left, right = node.args
    a, b = g.expr(left), g.expr(right)
    fast = ""
    if g.tree.type_of(left) == g.tree.type_of(right) in ("int", "string"):
        fast = f"({a} {sign} {b})"
    elif isinstance(right, Const) and type(right.value) in (int, float):
        t = g.name()
        fast = f"({t} {sign} {b} if type({t} := {a}) is int else {helper}({t}, {b}))"
    return g.operation(node, helper, a, b, fast=fast)


def _member(g: Generator, node: Call) -> str:
    """`in`. Among literal strings, or for a string among keys, Python's own `in` is right."""
    value, container = node.args
    a = g.expr(value)
    if (strings := _strings(container)) is not None:
        literals = ", ".join(map(repr, strings))
        if len(strings) <= _SHORT:
            fast = f"({a} in ({literals},))" if strings else ""
        else:
            t = g.name()
            fast = f"({t} in {{{literals}}} if type({t} := {a}) is str else False)"
        return g.operation(node, "member", a, f"[{literals}]", fast=fast)
    if isinstance(container, ListNode) and is_constant(container):
        return g.operation(node, "member", a, g.expr(container))
    helper = "within" if g.tree.type_of(container).startswith("list") else "search"
    if g.tree.type_of(value) != "string":
        return g.operation(node, helper, "B", a, g.expr(container))
    a, b, t = g.atom(a), g.expr(container), g.name()
    fast = f"({a} in {t} if type({t} := {b}) is dict else {helper}(B, {a}, {t}))"
    return g.operation(node, helper, "B", a, b, fast=fast)


def _strings(node: Node) -> list[str] | None:
    """Give the elements of a list of literal strings."""
    if not isinstance(node, ListNode) or node.optional:
        return None
    values = [element.value for element in node.elements if isinstance(element, Const)]
    strings = [value for value in values if isinstance(value, str)]
    return strings if len(strings) == len(node.elements) else None


def _index(g: Generator, node: Call) -> str:
    container, key = node.args
    a, b = g.expr(container), g.expr(key)
    fast = ""
    if g.tree.type_of(key) == "string":
        fast = f"{a}[{b}]"
    elif isinstance(key, Const) and type(key.value) is int and key.value >= 0:
        t = g.name()
        fast = f"({t}[{b}] if type({t} := {a}) is list else index({t}, {b}))"
    return g.operation(node, "index", a, b, fast=fast)


def _arithmetic(helper: str, *first: str) -> _Writer:
    return lambda g, node: g.operation(node, helper, *first, *map(g.expr, node.args))


def _size(g: Generator, node: Call) -> str:
    a, t = g.expr(node.operands[0]), g.name()
    fast = f"(len({t}) if type({t} := {a}) is list or type({t}) is str or type({t}) is dict else size({t}))"
    return g.operation(node, "size", a, fast=fast)


def _text_test(template: str) -> _Writer:
    """Write a test of a string against a literal by Python's own method."""

    def write(g: Generator, node: Call) -> str:
        a, b = map(g.expr, node.operands)
        helper = function_name(node.function)
        if not (isinstance(node.args[-1], Const) and isinstance(node.args[-1].value, str)):
            return g.operation(node, helper, a, b)
        t = g.name()
        test = template.format(text=t, part=b)
        return g.operation(node, helper, a, b, fast=f"({test} if type({t} := {a}) is str else {helper}({t}, {b}))")

    return write


def _contains(g: Generator, node: Call) -> str:
    """Write `contains`: Python's own for a string that is short, as what a long one costs has to be charged."""
    a, b = map(g.expr, node.operands)
    helper = function_name(node.function)
    if not (isinstance(node.args[-1], Const) and isinstance(node.args[-1].value, str)):
        return g.operation(node, helper, "B", a, b)
    t = g.name()
    fast = f"({b} in {t} if type({t} := {a}) is str and len({t}) <= {_SHORT_TEXT} else {helper}(B, {t}, {b}))"
    return g.operation(node, helper, "B", a, b, fast=fast)


_ORDERS: Final = {
    "_<_": ("less", "<"),
    "_<=_": ("less_equal", "<="),
    "_>_": ("greater", ">"),
    "_>=_": ("greater_equal", ">="),
}

_OPERATORS: Final[dict[str, _Writer]] = {
    "_&&_": logic.junction,
    "_||_": logic.junction,
    "!_": logic.negation,
    "_?_:_": logic.choice,
    "_==_": _equality,
    "_!=_": _equality,
    **dict.fromkeys(_ORDERS, _order),
    "@in": _member,
    "_[_]": _index,
    "_+_": _arithmetic("add", "B"),
    "_-_": _arithmetic("subtract"),
    "_*_": _arithmetic("multiply"),
    "_/_": _arithmetic("divide"),
    "_%_": _arithmetic("modulo"),
    "-_": _arithmetic("negate"),
}

_METHODS: Final[dict[str, _Writer]] = {
    "dyn": lambda g, node: g.expr(node.args[0]),
    "type": _arithmetic("type_of"),
    "size": _size,
    "startsWith": _text_test("{text}.startswith({part})"),
    "endsWith": _text_test("{text}.endswith({part})"),
    "contains": _contains,
    "hasValue": optionals.has_value,
    "value": optionals.value,
    "orValue": optionals.or_value,
    "orValueOfAny": optionals.or_value_of_any,
}
