"""What the doctor finds: something that will go wrong with admission webhooks, and how to keep it from happening."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from webhook.model.decision import Operation
from webhook.model.path import Path
from webhook.model.result import Resource, Source


class Level(StrEnum):
    """How bad it is; ordered by `rank`, worst first."""

    ERROR = "error"
    """A cluster that cannot mend itself, or does not ask the webhook at all."""
    WARNING = "warning"
    """It takes a second fault, or hits a few."""
    REMARK = "remark"
    """Worth knowing."""

    @property
    def rank(self) -> int:
        """0 is the worst."""
        return list(Level).index(self)


@dataclass(frozen=True, slots=True)
class Remedy:
    """The way out: words, and operations (JSON Patch) on the object where it is mechanical."""

    text: str
    patch: tuple[Operation, ...] = ()


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One finding. `check` names the check, `why` tells in a sentence what happens; `at` is the field in `resource`."""

    level: Level
    check: str
    resource: Resource
    source: Source
    at: Path
    message: str
    why: str
    fix: Remedy
