"""`&&`, `||`, `!` and `?:`: what is evaluated at all, and which error is absorbed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from webhook.cel.tree import Call, Const, Ident, Node

if TYPE_CHECKING:
    from webhook.cel.generate import Generator


def junction(g: Generator, node: Call) -> str:
    """Write `&&` or `||`.

    Any operand that decides wins over errors of the others, on either side. Without one, what is not
    known wins, then the first error: `evalAnd` and `evalOr` of cel-go.
    """
    operands, conjunction = terms(node), node.function == "_&&_"
    if all(is_certain(g, operand) for operand in operands[:-1]):
        return _python_junction(g, conjunction, operands)
    return g.shallow(lambda: _statements(g, conjunction, operands))


def _python_junction(g: Generator, conjunction: bool, operands: list[Node]) -> str:
    """Write Python's own `and` or `or`: right when only the last operand can fail."""
    *others, last = operands
    word = " and " if conjunction else " or "
    before = word.join(map(g.condition, others))
    lines, text = g.capture(lambda: g.condition(last))
    if not lines:
        return f"({before}{word}{text})"
    result = g.name()
    g.emit(f"{result} = ({before})")
    with g.block(f"if {result if conjunction else f'not {result}'}:"):
        g.lines += lines
        g.emit(f"{result} = {text}")
    return result


def _statements(g: Generator, conjunction: bool, operands: list[Node]) -> str:
    """Write the general form: each operand in its turn, while nothing has decided."""
    result, error = g.name(), ""
    undecided = result if conjunction else f"not {result}"
    for number, operand in enumerate(operands):
        last = number == len(operands) - 1
        guard = not is_certain(g, operand) and (not last or bool(error))
        if guard and not error:
            error = g.name("e")
            g.emit(f"{error} = None")
        if number == 0:
            _operand(g, operand, result, error if guard else "", conjunction)
        else:
            with g.block(f"if {undecided}:"):
                _operand(g, operand, result, error if guard else "", conjunction)
    if error:
        with g.block(f"if {error} is not None and {undecided}:"):
            g.emit(f"raise {error}")
    return result


def _operand(g: Generator, operand: Node, result: str, error: str, conjunction: bool) -> None:
    """Put an operand's value into `result`; an error goes into `error` and decides nothing."""
    if not error:
        g.emit(f"{result} = {g.condition(operand)}")
        return
    with g.block("try:"):
        g.emit(f"{result} = {g.condition(operand)}")
    with g.block("except ERRORS as x:"):
        g.emit(f"{error} = first({error}, x)")
        g.emit(f"{result} = {conjunction}")


def negation(g: Generator, node: Call) -> str:
    """Write `!`."""
    return f"(not {g.condition(node.args[0])})"


def choice(g: Generator, node: Call) -> str:
    """Write `c ? a : b`: only the branch that is chosen is evaluated."""
    condition, then, otherwise = node.args
    return branches(g, g.condition(condition), lambda: g.expr(then), lambda: g.expr(otherwise))


def branches(g: Generator, condition: str, then: Callable[[], str], otherwise: Callable[[], str]) -> str:
    """Write an `if` with two values: an expression where no branch needs statements."""
    then_lines, then_text = g.capture(then)
    else_lines, else_text = g.capture(otherwise)
    if not then_lines and not else_lines:
        return f"({then_text} if {condition} else {else_text})"
    result = g.name()
    for head, lines, text in ((f"if {condition}:", then_lines, then_text), ("else:", else_lines, else_text)):
        with g.block(head):
            g.lines += lines
            g.emit(f"{result} = {text}")
    return result


def terms(node: Node) -> list[Node]:
    """Give the operands of a chain of the same junction, `a && b && c`, from left to right."""
    if not isinstance(node, Call):
        return [node]
    return [
        term
        for operand in node.args
        for term in (terms(operand) if isinstance(operand, Call) and operand.function == node.function else [operand])
    ]


def is_certain(g: Generator, node: Node) -> bool:
    """Is a node true or false, whatever the object is."""
    return g.tree.type_of(node) == "bool" and _cannot_fail(g, node)


def _cannot_fail(g: Generator, node: Node) -> bool:
    match node:
        case Const():
            return True
        case Ident():
            known = ("object", "oldObject", "namespaceObject", "params")
            return g.is_bound(node.name) or node.name in known or g.is_type(node)
        case Call(function="type", args=(operand,)):
            return _cannot_fail(g, operand)
        case Call(function="_==_" | "_!=_"):
            return all(_cannot_fail(g, operand) for operand in node.args)
        case Call(function="_&&_" | "_||_" | "!_"):
            return all(is_certain(g, operand) for operand in node.args)
        case _:
            return False
