"""Programs some of whose functions are exchanged as they are linked: measured ones, and mutants.

Their variables have slots of their own: with shared ones, whoever reads first would hide the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from webhook.cel.emit import compiled
from webhook.cel.generate import Generator
from webhook.cel.linked import Linked, Unit
from webhook.cel.measure import Meter, Record
from webhook.cel.program import Program
from webhook.cel.slots import Slot, SlotTable
from webhook.cel.tree import Tree


@dataclass(frozen=True, slots=True)
class Measured(Program):
    """A program that records in `records`, by the names of its functions, what its expressions gave."""

    records: Mapping[str, Record]

    @classmethod
    def of(cls, program: Program, owner: str, records: Mapping[str, Record]) -> Measured:
        """Measure a program; `owner` is a name that no other program has."""
        return cls(_own(program.units, owner), program.source, program.code, program.trees, records)

    def link(self, slots: SlotTable) -> Linked:
        """Link the twins that record in place of the functions."""
        globals_ = self.load(slots)
        for name, record in self.records.items():
            unit = self.units[name]
            text = Meter(record, _slots(self.units)).function(unit.python_name, unit.parameters)
            _define(text, globals_)
            globals_[unit.python_name] = record.bind(globals_[unit.python_name])
        return Linked(self.units, self.trees, globals_)


@dataclass(frozen=True, slots=True)
class Mutated(Program):
    """A program with another tree in the place of one expression's, in all that explains it as well."""

    name: str
    changed: Mapping[str, Tree]

    @classmethod
    def of(cls, program: Program, owner: str, name: str, changed: Mapping[str, Tree]) -> Mutated:
        """Change one expression of a program: `changed` has all its trees. No other program has the name `owner`."""
        return cls(_own(program.units, owner), program.source, program.code, program.trees, name, changed)

    def link(self, slots: SlotTable) -> Linked:
        """Link the changed function in place of the one it was made from."""
        globals_, unit = self.load(slots), self.units[self.name]
        generator = Generator(self.changed[self.name], _slots(self.units))
        _define(generator.function(unit.python_name, unit.parameters), globals_)
        linked = Linked(self.units, self.trees, globals_)
        linked.trees = self.changed
        return linked


def _own(units: Mapping[str, Unit], owner: str) -> dict[str, Unit]:
    return {
        name: replace(unit, fingerprint=f"{owner} {name}") if unit.fingerprint and not unit.key else unit
        for name, unit in units.items()
    }


def _slots(units: Mapping[str, Unit]) -> dict[str, Slot]:
    return dict(_lazy(units))


def _lazy(units: Mapping[str, Unit]) -> Iterator[tuple[str, Slot]]:
    for name, unit in units.items():
        if unit.fingerprint:
            yield name, unit.slot


def _define(text: str, globals_: dict[str, Any]) -> None:
    exec(compiled(text), globals_)  # noqa: S102 - generated from a syntax tree
