"""A program that can be called."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from webhook.cel.activation import Activation
from webhook.cel.slots import Slot
from webhook.cel.trace import Trace
from webhook.model.path import Path

if TYPE_CHECKING:
    from webhook.cel.instrument import Tracer
    from webhook.cel.needs import Needs
    from webhook.cel.tree import Tree


@dataclass(frozen=True, slots=True)
class Unit:
    """One expression of a program: the name of its Python function, and its parameters.

    A lazy one has a fingerprint; one that is fetched has a `key` too, and no function.
    """

    python_name: str
    parameters: tuple[str, ...] = ()
    fingerprint: str = ""
    key: str = ""

    @property
    def slot_name(self) -> str:
        """The global that holds the place of the value."""
        return f"N_{self.python_name}"

    @property
    def slot(self) -> Slot:
        """How the value is read."""
        if self.key:
            return Slot(self.slot_name, f"fetch(c, {self.slot_name}, {self.key!r})")
        return Slot(self.slot_name, f"lazy(c, {self.slot_name}, {self.python_name})")


class Linked:
    """The functions of a program, by name, and what explains them."""

    def __init__(self, units: Mapping[str, Unit], trees: bytes, globals_: dict[str, Any]) -> None:
        self._units = units
        self._pickled = trees
        self._globals = globals_
        self.functions: Mapping[str, Callable[..., Any]] = {
            name: globals_[unit.python_name] for name, unit in units.items() if not unit.fingerprint
        }
        """`f(activation, *parameters)`; raises one of ERRORS, NotKnown among them, or Exhausted."""

    @cached_property
    def trees(self) -> Mapping[str, Tree]:
        """The syntax trees of the expressions, by name."""
        trees: Mapping[str, Tree] = pickle.loads(self._pickled)  # noqa: S301 - our own
        return trees

    def trace(self, name: str, activation: Activation, *parameters: Any, paths: Sequence[Path | None] = ()) -> Trace:
        """Run a function again, instrumented. `paths` says where in the object each parameter stands."""
        return self._tracer.trace(name, activation, parameters, paths)

    def reads(self, name: str) -> frozenset[Path]:
        """Give the fields of `object` and `oldObject` that a function can read, `*` for any element or key."""
        from webhook.cel.reads import reads

        return reads(self.trees, name)

    def needs(self, root: str) -> Needs:
        """Give what has to be kept of `lookups.<name>` or `namespaceObject` for all functions to decide the same."""
        from webhook.cel.needs import Needs, needs

        if root.encode() not in self._pickled:
            return Needs()
        trees: Mapping[str, Tree] = pickle.loads(self._pickled)  # noqa: S301 - our own, and needed this once only
        return needs(trees, self.functions, root)

    @cached_property
    def _tracer(self) -> Tracer:
        from webhook.cel.instrument import Tracer  # the generator: only a rule that failed needs it

        return Tracer(self._units, self.trees, self._globals)
