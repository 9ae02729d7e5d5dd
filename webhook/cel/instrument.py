"""The twin of a generated function: made by the same generator, it records what each sub-expression gave.

A twin uses the operators of `values` only, never the fast forms, so that errors have cel-go's words and
a place. It is generated when a rule has failed and somebody wants to know why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from webhook.cel.activation import Activation
from webhook.cel.emit import compiled
from webhook.cel.frame import Layout
from webhook.cel.generate import Generator
from webhook.cel.linked import Unit
from webhook.cel.session import Session
from webhook.cel.slots import Slot
from webhook.cel.trace import Trace
from webhook.cel.tree import Const, Ident, Loop, Node, Tree
from webhook.model.path import Path


class Twin(Generator):
    """Writes the twin: every operator and every value goes through the frame, `R`."""

    arguments = ("c", "R")

    def operation(self, node: Node, helper: str, *arguments: str, fast: str = "") -> str:  # noqa: ARG002 - never fast
        return f"R.do({', '.join((str(node.id), helper, *arguments))})"

    def seen(self, node: Node, text: str) -> str:
        return text if isinstance(node, Const) else f"R.see({node.id}, {text})"

    def seen_maybe(self, node: Node, text: str) -> str:
        return self.seen(node, text)

    def slot(self, node: Ident, slot: Slot) -> str:  # noqa: ARG002 - read by name
        return f"R.read({node.id}, {node.name!r})"

    def iteration(self, node: Loop, helper: str, entries: str, cost: int) -> str:
        return f"R.loop({node.id}, {helper}, B, {entries}, {cost})"

    def keep(self, node: Loop) -> None:
        self.emit(f"R.keep({node.id}, {node.body.id})")


class Tracer:
    """Makes twins when they are first asked for, and runs them."""

    def __init__(self, units: Mapping[str, Unit], trees: Mapping[str, Tree], globals_: dict[str, Any]) -> None:
        self._units = units
        self._trees = trees
        self._globals = globals_
        self._slots = {name: unit.slot for name, unit in units.items() if unit.fingerprint}
        self._twins: dict[str, Callable[..., Any]] = {}
        self._layouts: dict[str, Layout] = {}

    def trace(
        self, name: str, activation: Activation, parameters: Sequence[Any], paths: Sequence[Path | None]
    ) -> Trace:
        """Run the twin of a function and tell what happened; never raises for what the expression did."""
        names = self._units[name].parameters
        known = dict(zip(names, [*paths, *[None] * (len(names) - len(paths))], strict=True))
        return Session(self, activation).trace(name, parameters, known)

    def twin(self, name: str) -> Callable[..., Any]:
        """Give the twin of an expression."""
        if name not in self._twins:
            unit, function = self._units[name], f"twin_{self._units[name].python_name}"
            text = Twin(self._trees[name], self._slots).function(function, unit.parameters)
            exec(compiled(text), self._globals)  # noqa: S102 - generated from a syntax tree
            self._twins[name] = self._globals[function]
        return self._twins[name]

    def layout(self, name: str) -> Layout:
        """Give the syntax tree of an expression, with its nodes by id."""
        if name not in self._layouts:
            self._layouts[name] = Layout.of(self._trees[name])
        return self._layouts[name]

    def outside(self, name: str) -> tuple[int, str] | None:
        """Give the place and the key of something that is fetched; None for a variable."""
        unit = self._units[name]
        return (self._globals[unit.slot_name], unit.key) if unit.key else None
