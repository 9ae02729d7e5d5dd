"""The face of the package: expressions go in as text (`Builder`), functions come out (`Linked`).

A `Program` holds the compiled expressions of one policy. It can be pickled, and neither loading nor
running one imports the CEL library. Before it runs, `link` gives its lazy names their places in the
slot table that all policies share.
"""

from __future__ import annotations

import marshal
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from webhook.cel.activation import Activation
from webhook.cel.errors import ExpressionError, ExpressionErrors
from webhook.cel.linked import Linked, Unit
from webhook.cel.namespace import namespace
from webhook.cel.slots import Slot, SlotTable
from webhook.cel.trace import Trace

if TYPE_CHECKING:
    from webhook.cel.tree import Tree

__all__ = ["ADMISSION", "Activation", "Builder", "Linked", "Program", "SlotTable", "Trace"]

ADMISSION: Mapping[str, str] = MappingProxyType(
    {
        "object": "dyn",
        "oldObject": "dyn",
        "request": "kubernetes.AdmissionRequest",
        "namespaceObject": "kubernetes.Namespace",
    }
)
"""What every admission expression may read, with the types that Kubernetes gives it."""


_PLAIN = 32
"""What has no more levels than that, Python can read for sure."""


@dataclass(frozen=True, slots=True)
class Program:
    """The expressions of one policy, compiled.

    `units` are its expressions by name, functions and lazy names (`variables.x`, `lookups.x`) alike;
    `source` and `code` the Python module made of them, as text and for `marshal`; `trees` their syntax
    trees, pickled, because only a rule that has failed needs them. `code` is that of one version of
    Python; a program that is kept for others goes without.
    """

    units: Mapping[str, Unit]
    source: str
    code: bytes
    trees: bytes

    def with_code(self) -> Program:
        """Make the code for this version of Python from the source."""
        return replace(self, code=_code(self.source))

    def link(self, slots: SlotTable) -> Linked:
        """Make the functions callable with activations that are as big as this slot table.

        Raises ValueError when the code was made by another version of Python.
        """
        return Linked(self.units, self.trees, self.load(slots))

    def load(self, slots: SlotTable) -> dict[str, Any]:
        """Run the module that the functions are in, and give its globals. Raises as `link`."""
        numbers = {
            name: slots.slot(unit.fingerprint)
            for unit in self.units.values()
            if unit.fingerprint and (name := unit.slot_name)
        }
        globals_ = namespace(numbers)
        exec(marshal.loads(self.code), globals_)  # noqa: S102, S302 - generated from syntax trees by us
        return globals_


class Builder:
    """Compiles the expressions of one policy, in the order in which they may see each other.

    `types` declares what they may read: `{"object": "dyn", …}`, see `ADMISSION`. What only compiling
    needs, the CEL library above all, is imported where it is used: running a program needs none of it.
    `lenient`: they mean what they mean to Kyverno, see the module of that name.
    """

    def __init__(self, types: Mapping[str, str], *, lenient: bool = False) -> None:
        self._types = dict(types)
        self._lenient = lenient
        self._units: dict[str, Unit] = {}
        self._trees: dict[str, Tree] = {}
        self._sources: list[str] = []
        self._numbers = count()

    def variable(self, name: str, text: str) -> None:
        """Add `variables.<name>`, computed when it is first read. Raises ExpressionErrors.

        One that cannot be compiled is known all the same: its readers bring no errors that are not theirs.
        """
        from webhook.cel.environment import variable_type
        from webhook.cel.fingerprint import fingerprint

        try:
            tree = self._compile(text, {})
        except ExpressionErrors:
            self._types[f"variables.{name}"] = "dyn"
            raise
        known = {name: unit.fingerprint for name, unit in self._units.items() if unit.fingerprint}
        self._add(f"variables.{name}", tree, Unit(self._next(), fingerprint=fingerprint(tree.root, known)))
        self._types[f"variables.{name}"] = variable_type(tree.type)

    def outside(self, name: str, key: str, type: str) -> None:  # noqa: A002 - the contract's name
        """Add `lookups.<name>`, which the activation's `fetch` gives by `key` when it is first read."""
        unit = Unit(self._next(), fingerprint=f"outside {key}", key=key)
        self._units[f"lookups.{name}"] = unit
        self._types[f"lookups.{name}"] = type

    def function(
        self, name: str, text: str, parameters: Mapping[str, str] = MappingProxyType({}), want: str = "bool"
    ) -> None:
        """Add an expression that is called by its name, with `parameters` (name → CEL type) in this order.

        `want` is the type it must have; `dyn` wants nothing, and a bool may turn out at run time only. An `Object` is
        dyn to the checker, too: what is seen to be another one is refused.
        Raises ExpressionErrors: syntax, types, unknown names, another result type.
        """
        tree = self._compile(text, parameters)
        if want == "Object":
            from webhook.cel import checks

            if found := checks.of_object(tree):
                raise ExpressionErrors(found)
        if not _gives(tree.type, want):
            raise ExpressionErrors((ExpressionError(*tree.position(tree.root), _advice(tree.type, want)),))
        self._add(name, tree, Unit(self._next(), parameters=tuple(parameters)))

    def build(self) -> Program:
        """Make the program of what has been added."""
        source = "\n\n\n".join(self._sources) + "\n"
        return Program(dict(self._units), source, _code(source), pickle.dumps(self._trees))

    def _compile(self, text: str, parameters: Mapping[str, str]) -> Tree:
        from webhook.cel.frontend import compile_expression

        tree = compile_expression(text, {**self._types, **parameters})
        if not self._lenient:
            return tree
        from webhook.cel.lenient import lenient

        return lenient(tree)

    def _add(self, name: str, tree: Tree, unit: Unit) -> None:
        from webhook.cel.generate import Generator
        from webhook.cel.tree import depth

        slots = {name: unit.slot for name, unit in self._units.items() if unit.fingerprint}
        if depth(tree.root) > _PLAIN:
            _try(tree, slots, unit.parameters)
        self._sources.append(Generator(tree, slots).function(unit.python_name, unit.parameters))
        self._units[name] = unit
        self._trees[name] = tree

    def _next(self) -> str:
        return f"x{next(self._numbers)}"


def _code(source: str) -> bytes:
    from webhook.cel.emit import compiled

    return marshal.dumps(compiled(source))


def _try(tree: Tree, slots: Mapping[str, Slot], parameters: Sequence[str]) -> None:
    """Write a deep expression, and its twin. Raises ExpressionErrors where Python cannot read what is written."""
    from webhook.cel.emit import compiled
    from webhook.cel.faults import TOO_DEEP
    from webhook.cel.generate import Generator
    from webhook.cel.instrument import Twin

    try:
        for writer in (Generator, Twin):
            compiled(writer(tree, slots).function("f", parameters))
    except (SyntaxError, RecursionError):  # too many parentheses, blocks or indentations
        raise ExpressionErrors((TOO_DEEP,)) from None


def _gives(type_: str, want: str) -> bool:
    if want == "dyn" or (type_ == "dyn" and want in ("bool", "list", "Object")):
        return True  # as Kubernetes does for bool; a list's type is lost in `object` more often than not
    return type_.partition("(")[0] == want.partition("(")[0]


def _advice(type_: str, want: str) -> str:
    way_out = "; write string(…)" if want == "string" else ""
    return f"got {type_}, want {want}{way_out}"
