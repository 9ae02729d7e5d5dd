"""What lint finds in policies: what they get wrong, whatever objects come, and how to mend it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from webhook.errors import DocumentError
from webhook.model.diagnosis import Level
from webhook.model.policy import Location
from webhook.model.result import Silenced


@dataclass(frozen=True, slots=True)
class Check:
    """One kind of finding. `code` names it, in what is printed and in comments that silence it."""

    code: str
    level: Level
    title: str
    why: str
    """What happens where nobody acts, in a sentence."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding: `at` points into the expression, where `length` characters are meant; `excerpt` is the line."""

    check: Check
    policy: str
    at: Location
    message: str
    fix: str
    length: int = 1
    excerpt: str = ""
    silenced: Silenced | None = None


@dataclass(frozen=True, slots=True)
class Requirement:
    """The oldest Kubernetes that evaluates a policy, and what in it is that new."""

    policy: str
    version: str
    because: str
    at: Location


@dataclass(frozen=True, slots=True)
class Linted:
    """What a run over policies found, in the order of files; `faults` are of policies that cannot be looked at."""

    policies: int
    findings: tuple[Finding, ...]
    requirements: tuple[Requirement, ...] = ()
    faults: tuple[DocumentError, ...] = ()
    remarks: tuple[DocumentError, ...] = field(default=())
    """What is worth saying and no finding: a silencing without a reason."""

    @property
    def levels(self) -> Counter[Level]:
        """How many findings count, of each level."""
        return Counter(one.check.level for one in self.findings if not one.silenced)
