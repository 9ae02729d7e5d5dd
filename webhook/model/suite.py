"""Policy tests as written: cases, each an object and what its policies must say about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from webhook.errors import DocumentError
from webhook.model.decision import Operation
from webhook.model.explanation import Explanation
from webhook.model.policy import Location
from webhook.model.release import Minor
from webhook.model.request import Object, UserInfo


class Expected(StrEnum):
    """What a case may expect: an outcome of the rules, or that they had nothing to decide."""

    ALLOW = "allow"
    """Evaluated, and nothing to say."""
    DENY = "deny"
    ERROR = "error"
    WARN = "warn"
    AUDIT = "audit"
    SKIP = "skip"
    NOT_MATCHED = "notMatched"
    """The policy is not about such a request."""
    INVALID = "invalid"
    """The policy does not load."""


@dataclass(frozen=True, slots=True)
class Violations:
    """How many rules are to be broken, whatever their policies ask for then; `most` is None where more are as good."""

    least: int
    most: int | None = None

    def __contains__(self, count: int) -> bool:
        return self.least <= count and (self.most is None or count <= self.most)

    def __str__(self) -> str:
        return f"at least {self.least}" if self.most is None else str(self.least)


SOME: Final = Violations(1)


@dataclass(frozen=True, slots=True)
class Expectation:
    """What must be true of the decision; None and "" mean that nothing is expected of it.

    `message` is a part of the message, or a `/regular expression/` that is found in it. `policy` names
    the policy that it is about; without it, all policies of the suite are. `violations`, of suites of other tools,
    are those whose message says `message`. `patched` may leave empty lists and maps out where `empties` do not count.
    """

    outcome: Expected | None = None
    policy: str = ""
    rule: str = ""
    field: str = ""
    message: str = ""
    reason: str = ""
    patch: tuple[Operation, ...] | None = None
    patched: Object | None = None
    warnings: tuple[str, ...] | None = None
    audit_annotations: dict[str, str] | None = None
    violations: Violations | None = None
    empties: bool = True


@dataclass(frozen=True, slots=True)
class Case:
    """One request and what is known of the world around it. What `lookups` does not list is absent."""

    name: str
    object: Object | None
    expect: Expectation
    location: Location
    old_object: Object | None = None
    operation: str = ""
    subresource: str = ""
    user: UserInfo | None = None
    namespace_labels: dict[str, str] = field(default_factory=dict)
    lookups: tuple[Object, ...] = ()
    release: Minor | None = None
    time: datetime | None = None


@dataclass(frozen=True, slots=True)
class Suite:
    """One PolicyTest document, or one of another tool; `policies` are paths that can be opened from where we are.

    `mutants` and `unreached` say why some mutants may live, and some outcomes of a policy are never reached.
    """

    file: str
    policies: tuple[str, ...]
    cases: tuple[Case, ...]
    mutants: tuple[Explanation, ...] = ()
    unreached: tuple[Explanation, ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """One expectation that does not hold: what was wanted of `what`, and what came."""

    what: str
    want: Any
    got: Any


@dataclass(frozen=True, slots=True)
class CaseResult:
    """A case, judged: it passed if nothing differs."""

    case: Case
    differences: tuple[Difference, ...] = ()


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """All cases of a suite, judged. `errors` are faults of its policies that no case expects."""

    suite: Suite
    results: tuple[CaseResult, ...]
    errors: tuple[DocumentError, ...] = ()
