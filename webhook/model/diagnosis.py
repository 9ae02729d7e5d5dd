"""What the doctor finds: something that will go wrong with admission webhooks, and how to keep it from happening."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from webhook.errors import DocumentError
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


@dataclass(frozen=True, slots=True)
class Examination:
    """What was found, the worst first, in so many webhooks; `faults` are of what could not be examined.

    `passed_over` are files that are plainly something else, `unknown` the kinds of a cluster that could not be read, so
    that what depends on them was not looked at.
    """

    webhooks: int
    diagnoses: tuple[Diagnosis, ...]
    faults: tuple[DocumentError, ...] = ()
    passed_over: tuple[DocumentError, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def levels(self) -> Counter[Level]:
        """How many findings there are of each level."""
        return Counter(one.level for one in self.diagnoses)
