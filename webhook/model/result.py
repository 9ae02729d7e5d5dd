"""What a run over many objects found: decisions taken apart and tied to the places that people wrote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from webhook.errors import DocumentError
from webhook.model.configuration import PolicyException
from webhook.model.decision import Change, Finding, Outcome
from webhook.model.path import Path
from webhook.model.recorded import Asked

KUSTOMIZE: Final = "kustomize:"
HELM: Final = "helm:"
"""What the name of a source begins with that another tool has made: there is no file to mend."""

_FIXABLE: Final = {Outcome.DENY, Outcome.WARN}


@dataclass(frozen=True, slots=True, order=True)
class Resource:
    """Which object: `namespace` is "" where it has none."""

    api_version: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        name = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind} {name}"


@dataclass(frozen=True, slots=True)
class Source:
    """Where it is written: `line` and `column` count from 1, `document` from 0, `length` is in characters.

    `excerpt` is the whole line, for people to look at; None where it must not be shown.
    """

    file: str
    document: int = 0
    line: int = 0
    column: int = 0
    length: int = 0
    excerpt: str | None = None


@dataclass(frozen=True, slots=True)
class Silenced:
    """Why a finding does not count: `by` is `annotation`, `comment`, `baseline` or `exception`."""

    by: str
    reason: str
    exception: PolicyException | None = None


@dataclass(frozen=True, slots=True)
class SetBy:
    """Who last set a field of a live object, from its `metadata.managedFields`: `operation` is Apply or Update."""

    manager: str
    operation: str
    time: str
    by_hand: bool | None
    """By a person rather than a controller, as far as the manager's name tells; None where it does not."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """Characters of a file to replace by a text: from `line` and `column` up to the place behind the last of them."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


@dataclass(frozen=True, slots=True)
class Edit:
    """One place that a patch changes: `before` and `after` hold the value there, or nothing at all."""

    path: Path
    before: tuple[Any, ...] = ()
    after: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Picture:
    """A part of an object as YAML, the way to one field opened: `marked` are the indexes of the lines that it takes.

    `edits` is what the finding's fix changes; none where it is not mechanical.
    """

    lines: tuple[str, ...]
    marked: range
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """One finding, with the object and the place that it is about."""

    finding: Finding
    resource: Resource
    source: Source
    silenced: Silenced | None = None
    set_by: SetBy | None = None
    picture: Picture | None = None
    """The object around the field, where that was asked for and may be shown."""
    replacement: Replacement | None = None
    """How to write its fix into the file, where that was asked for and is mechanical."""
    asked: Asked | None = None
    """Who asked for it, where it is about a request that was recorded."""

    @property
    def refuses(self) -> bool:
        """Is the object refused for it."""
        refused = self.finding.outcome in {Outcome.DENY, Outcome.ERROR}
        return refused and not self.finding.ignored and not self.silenced

    @property
    def fixable(self) -> bool:
        """Does it count, stand in a file, and is its fix mechanical: operations that `check --fix` can apply."""
        counts = self.finding.outcome in _FIXABLE and not self.finding.ignored and not self.silenced
        made = self.source.file.startswith((KUSTOMIZE, HELM))
        written = self.source.line > 0 and not made and not self.asked
        return counts and written and bool(self.finding.fix.patch)


@dataclass(frozen=True, slots=True)
class Patch:
    """What one mutation changes in one object, as operations for machines and edits for people."""

    change: Change
    resource: Resource
    source: Source
    edits: tuple[Edit, ...] = ()
    asked: Asked | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """One object, looked at by all policies."""

    resource: Resource
    results: tuple[Result, ...] = ()
    patches: tuple[Patch, ...] = ()
    remarks: tuple[DocumentError, ...] = ()
    """What else its author should know, such as a silencing without a reason."""
    file: str = ""
    """Where it is written; "" if it comes from a cluster."""

    @property
    def silent(self) -> bool:
        """Is there nothing to say about it."""
        return not (self.results or self.patches or self.remarks)


@dataclass(frozen=True, slots=True)
class Setup:
    """What a run works with, as reports tell it."""

    release: str
    policies: int
    policy_errors: tuple[DocumentError, ...] = ()
