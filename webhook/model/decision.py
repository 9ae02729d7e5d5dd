"""What came out: what happened to each rule, what we do about it, and the answer to the request."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from webhook.model.configuration import PolicyException
from webhook.model.path import Path
from webhook.model.policy import Policy, Reason
from webhook.model.request import Object

Operation = dict[str, Any]
"""One JSON Patch operation (RFC 6902): `op`, `path`, and `value` or `from`."""


class Outcome(StrEnum):
    """What becomes of one rule (and element) for one object."""

    PASS = "pass"  # noqa: S105 - no password
    """The rule holds."""
    DENY = "deny"
    """The rule is broken and the request is refused for it."""
    WARN = "warn"
    """The rule is broken and the user is told; the request goes on."""
    AUDIT = "audit"
    """The rule is broken and only the audit log is told."""
    ERROR = "error"
    """The rule could not be evaluated. The request is refused for it, unless the finding is `ignored`."""
    SKIP = "skip"
    """The rule was not evaluated: something that it needs is not known here."""


@dataclass(frozen=True, slots=True)
class FoundFix:
    """The way out of one finding: words, and operations that mend the object (may be none)."""

    text: str = ""
    patch: tuple[Operation, ...] = ()


NO_FOUND_FIX: Final = FoundFix()


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule (and element) that has something to say about one object, with all that people need to act.

    `value` is what stands at `field` in the object; `has_value` tells null from absent. Where the
    policy calls the field sensitive, both say that there is nothing to show.
    """

    outcome: Outcome
    policy: Policy
    rule: str
    message: str = ""
    reason: Reason = Reason.INVALID
    field: Path = ()
    value: Any = None
    has_value: bool = False
    allowed: tuple[Any, ...] = ()
    suggestion: Any = None
    fix: FoundFix = NO_FOUND_FIX
    why: str = ""
    ignored: bool = False


@dataclass(frozen=True, slots=True)
class Excused:
    """A finding that does not count, for an exception lets its rule pass."""

    finding: Finding
    exception: PolicyException


@dataclass(frozen=True, slots=True)
class Change:
    """What one mutation did to the object, and why: `operations` are minimal and apply in order.

    `secret`: their values may hold something that must never be shown.
    """

    policy: Policy
    message: str
    operations: tuple[Operation, ...]
    secret: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer to one request.

    `object` is the object after all mutations (the very one that came in when nothing changed) and
    `patch` leads from the one to the other. `findings` are sorted, most severe first.
    """

    allowed: bool
    findings: tuple[Finding, ...] = ()
    changes: tuple[Change, ...] = ()
    patch: tuple[Operation, ...] = ()
    object: Object | None = None
    audit_annotations: dict[str, str] = field(default_factory=dict)
    evaluated: tuple[str, ...] = ()
    """Names of the policies that matched and were evaluated, each once."""
    excused: tuple[Excused, ...] = ()
