"""What an upgrade changes for one object: the findings and patches that one release has and the other has not."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from webhook.errors import DocumentError
from webhook.model.result import Patch, Resource, Result


class Turn(StrEnum):
    """What becomes different, worst first."""

    DENIED = "newlyDenied"
    WARNED = "newlyWarned"
    NOT_CHECKED = "notChecked"
    """The rule needs something that is not known here, and did not need it before."""
    ALLOWED = "newlyAllowed"
    """No longer refused for it; the finding is that of the release before."""
    SETTLED = "noLongerWarned"
    """Nothing is said of it any more; the finding is that of the release before."""
    PATCHED = "newlyPatched"


@dataclass(frozen=True, slots=True)
class Difference:
    """One finding or patch, and what is new about it."""

    turn: Turn
    about: Result | Patch


@dataclass(frozen=True, slots=True)
class Previewed:
    """One object, judged for two releases, and what else its author should know."""

    resource: Resource
    differences: tuple[Difference, ...] = ()
    remarks: tuple[DocumentError, ...] = ()
