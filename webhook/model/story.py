"""How a decision came about, step by step: what each policy was asked, and what each expression gave."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from webhook.model.decision import Change, Decision, Finding
from webhook.model.path import Path
from webhook.model.policy import Policy
from webhook.model.request import AdmissionRequest


class Junction(StrEnum):
    """How an expression joins its parts."""

    ALL = "all"
    ANY = "any"


class Phase(StrEnum):
    """The two times that the API server asks."""

    MUTATE = "mutate"
    VALIDATE = "validate"


@dataclass(frozen=True, slots=True)
class Step:
    """A part of an expression and what it gave: a JSON value, or the error that it raised."""

    text: str
    value: Any = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Reason:
    """A part of an expression, what it gave, and the parts that made it so: all of a junction, or those that decided.

    `path` is where in the object a value was read; empty where it was not.
    """

    text: str
    value: Any
    path: Path = ()
    because: tuple[Reason, ...] = ()
    junction: Junction | None = None
    absent: bool = False
    """Nothing was there to be read: an optional field that the object does not have."""


@dataclass(frozen=True, slots=True)
class Told:
    """One expression, evaluated. `steps` are its parts in order; None where they might tell a secret."""

    name: str
    text: str
    result: str
    """What became of it: `true` or `false` of a condition, the outcome of a rule."""
    steps: tuple[Step, ...] | None = ()
    element: str | int | None = None
    """The index or key of forEach's element, where there is one."""
    finding: Finding | None = None
    reason: Reason | None = None
    """The same as an outline; None as with `steps`, or where nothing came of the expression."""


@dataclass(slots=True)
class PolicyStory:
    """One policy in one phase. `left` says why it was not gone through to the end."""

    policy: Policy
    phase: Phase
    left: str = ""
    conditions: list[Told] = field(default_factory=list)
    changes: tuple[Change, ...] = ()
    rules: list[Told] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Story:
    """One decision: the policies that are not about such a request (with the reason), and those that were asked."""

    request: AdmissionRequest
    release: str
    decision: Decision
    not_candidates: tuple[tuple[Policy, str], ...]
    policies: tuple[PolicyStory, ...]
    warnings: tuple[str, ...] = ()
    exempt: bool = False
