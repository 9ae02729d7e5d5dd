"""Facts as they are read: those that could be, and why the others could not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


class NotReadable(Exception):
    """A fact stands in the tree in no form that is known here: it must be said, and not guessed."""


@dataclass(frozen=True, slots=True)
class Facts:
    """`read` is name → value, `not_read` name → reason."""

    read: dict[str, Any] = field(default_factory=dict)
    not_read: dict[str, str] = field(default_factory=dict)

    def take(self, name: str, reader: Callable[[], Any]) -> None:
        """Read one fact."""
        try:
            self.read[name] = reader()
        except NotReadable as error:
            self.not_read[name] = str(error)
