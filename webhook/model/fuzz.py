"""Objects that nobody wrote, and what went wrong with them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from webhook.model.suite import Case, Suite


class Law(StrEnum):
    """What must hold whatever the object is."""

    NEVER_ERRS = "neverErrs"
    """Every rule can be evaluated."""
    IDEMPOTENT = "idempotent"
    """A mutation finds nothing more to do in what it has made."""
    SATISFIED = "satisfied"
    """What a policy has patched breaks none of its own rules that held before."""


@dataclass(frozen=True, slots=True)
class Slip:
    """A law that did not hold: the case that it began with, the fewest changes that do it, and what came."""

    law: Law
    case: Case
    changes: tuple[str, ...]
    told: str


@dataclass(frozen=True, slots=True)
class Fuzzed:
    """One suite: how many objects were tried, and what went wrong, each rule and law once."""

    suite: Suite
    tried: int
    slips: tuple[Slip, ...]
