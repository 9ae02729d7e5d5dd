"""Where lazy values are kept: one place for all that have the same fingerprint, whatever policy reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

UNSET: Final = object()
"""What stands in a slot whose variable has not been computed."""


class SlotTable:
    """Hands out places, the same one for the same fingerprint; `len` is how many there are."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def slot(self, fingerprint: str) -> int:
        """Give the place of a value."""
        return self._places.setdefault(fingerprint, len(self._places))

    def __len__(self) -> int:
        return len(self._places)


@dataclass(frozen=True, slots=True)
class Slot:
    """How generated code reads a lazy value: the global that holds its place, and the call that computes it."""

    number: str
    fill: str
