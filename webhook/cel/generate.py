"""Tree → the Python source of one function, with the semantics of cel-go as the API server runs it.

Objects are read raw where that gives CEL's answer or an exception of `ERRORS`: `object["spec"]["x"]`
for `object.spec.x`. Where Python differs, a test of the type chooses between a fast form and the
operator of `values`. The checker's types decide what needs no test.

Names and literals are written here, `&&` and its kin in `logic.py`, operators and functions in
`operators.py`, macros in `loops.py`, optional values in `optionals.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from webhook.cel import loops, operators, optionals
from webhook.cel.costs import cost
from webhook.cel.emit import Emitter
from webhook.cel.slots import Slot
from webhook.cel.tree import Call, Const, Entry, Ident, ListNode, Loop, MapNode, Node, Select, Tree

_CHARGES: Final = re.compile(r"[( ]B[,)]")
"""The budget as an argument."""
INPUTS: Final = ("object", "oldObject", "request", "namespaceObject", "params", "release", "acknowledged", "authorizer")
"""Names that are attributes of the activation."""


class Generator(Emitter):
    """Writes one function; the methods called hooks are for the twin (`instrument.py`).

    `slots` are the lazy names that the function may read: `variables.x`, `lookups.x`.
    """

    arguments: tuple[str, ...] = ("c",)
    """What a function takes before its parameters: the activation."""

    def __init__(self, tree: Tree, slots: Mapping[str, Slot]) -> None:
        super().__init__()
        self.tree = tree
        self._slots = slots
        self._bound: dict[str, str] = {}
        self._inputs: set[str] = set()

    def function(self, name: str, parameters: Sequence[str] = ()) -> str:
        """Write the function `name(activation, *parameters)`."""
        self._bound.update({parameter: self.name("p") for parameter in parameters})
        arguments = ", ".join([*self.arguments, *self._bound.values()])
        self.emit(f"return {self.expr(self.tree.root)}")
        return "\n".join([f"def {name}({arguments}):", *self._prologue(), *self.lines])

    def _prologue(self) -> Iterator[str]:
        """Read once what the function needs of the activation."""
        body = "\n".join(self.lines)
        if _CHARGES.search(body):
            yield " B = c.budget"
            yield f" B.begin({cost(self.tree, self.tree.root)})"
        if "S[" in body:
            yield " S = c.slots"
        for name in sorted(self._inputs):
            yield f" i_{name} = c.{name}{'()' if name == 'authorizer' else ''}"

    def expr(self, node: Node) -> str:
        """Write a node: emit what has to run first, and give the expression (a primary) that has its value."""
        if optionals.is_native(self, node):
            return self.seen(node, f"wrap({optionals.maybe(self, node)})")
        return self.seen(node, self._write(node))

    def _write(self, node: Node) -> str:
        match node:
            case Const():
                return literal(node.value)
            case Ident():
                return self._ident(node)
            case Select():
                return self._select(node)
            case Call():
                return operators.call(self, node)
            case ListNode():
                return self._list(node)
            case MapNode():
                return self._map(node)
            case Loop():
                return self.shallow(lambda: loops.loop(self, node))
            case _:
                raise ValueError(f"node {node.id} cannot be written")

    def condition(self, node: Node) -> str:
        """Write a node that has to be bool: its value is True or False, or it raises."""
        text = self.expr(node)
        if self.tree.type_of(node) == "bool":
            return text
        t = self.name()
        fast = f"({t} if ({t} := {text}) is True or {t} is False else condition({t}))"
        return self.operation(node, "condition", text, fast=fast)

    def operation(self, node: Node, helper: str, *arguments: str, fast: str = "") -> str:  # noqa: ARG002 - the twin's
        """Hook: write the call of a helper, or the fast form that means the same."""
        return fast or f"{helper}({', '.join(arguments)})"

    def seen(self, node: Node, text: str) -> str:  # noqa: ARG002 - the twin's
        """Hook: the value of a node is `text`."""
        return text

    def seen_maybe(self, node: Node, text: str) -> str:  # noqa: ARG002 - the twin's
        """Hook: the value of an optional is `text`, MISSING when it has none."""
        return text

    def iteration(self, node: Loop, helper: str, entries: str, cost: int) -> str:  # noqa: ARG002 - the twin's
        """Hook: what a loop goes through."""
        return f"{helper}(B, {entries}, {cost})"

    def keep(self, node: Loop) -> None:
        """Hook: a loop that makes a list has kept what it computed of an element."""

    @contextmanager
    def bound(self, names: Mapping[str, str]) -> Iterator[None]:
        """Let CEL names stand for Python names inside."""
        outer = self._bound
        self._bound = {**outer, **names}
        yield
        self._bound = outer

    def variable(self, name: str) -> str:
        """Give the Python name of a loop variable."""
        return self._bound[name]

    def is_bound(self, name: str) -> bool:
        """Is it a loop variable or a parameter, which is there and cannot fail."""
        return name in self._bound

    def is_type(self, node: Ident) -> bool:
        """Does the name stand for a type, and for nothing that shadows it."""
        return not (node.name in self._bound or node.name in self._slots or node.name in INPUTS)

    def _ident(self, node: Ident) -> str:
        if name := self._bound.get(node.name):
            return name
        if slot := self._slots.get(node.name):
            return self.slot(node, slot)
        if node.name == "authorizer.requestResource":
            self._inputs.add("authorizer")
            return "i_authorizer.request_resource"
        if node.name in INPUTS:
            self._inputs.add(node.name)
            return f"i_{node.name}"
        return f"CelType({node.name!r})"

    def slot(self, node: Ident, slot: Slot) -> str:  # noqa: ARG002 - the twin's
        """Hook: write the reading of a lazy value."""
        t = self.name()
        return f"({t} if ({t} := S[{slot.number}]) is not UNSET else {slot.fill})"

    def _select(self, node: Select) -> str:
        operand, key = self.expr(node.operand), repr(node.field)
        if node.test:
            t = self.name()
            fast = f"({key} in {t} if type({t} := {operand}) is dict else present({t}, {key}))"
            return self.operation(node, "present", operand, key, fast=fast)
        return self.operation(node, "read", operand, key, fast=f"{operand}[{key}]")

    def _list(self, node: ListNode) -> str:
        elements = [
            optionals.maybe(self, element) if number in node.optional else self.expr(element)
            for number, element in enumerate(node.elements)
        ]
        text = f"[{', '.join(elements)}]"
        return f"without_missing({text})" if node.optional else text

    def _map(self, node: MapNode) -> str:
        plain = all(isinstance(entry.key, Const) and isinstance(entry.key.value, str) for entry in node.entries)
        pairs = [(self.expr(entry.key), self._entry(entry)) for entry in node.entries]
        if plain:
            text = f"{{{', '.join(f'{key}: {value}' for key, value in pairs)}}}"
        else:
            text = self.operation(node, "make_map", f"[{', '.join(f'({key}, {value})' for key, value in pairs)}]")
        return f"entries_without_missing({text})" if any(entry.optional for entry in node.entries) else text

    def _entry(self, entry: Entry) -> str:
        return optionals.maybe(self, entry.value) if entry.optional else self.expr(entry.value)


def literal(value: Any) -> str:
    """Write a constant as Python does."""
    text = repr(value)
    return f"({text})" if text.startswith("-") else text
