"""How a cluster wants the policies applied: modes, exemptions, and exceptions with an owner and an end."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

from webhook.model.policy import NOWHERE, Location, MatchResources
from webhook.model.release import Minor
from webhook.model.selector import LabelSelector


class ModeName(StrEnum):
    """What becomes of a policy's findings: as written (deny), softened, or not looked for at all."""

    DENY = "deny"
    WARN = "warn"
    AUDIT = "audit"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Mode:
    """`mode` for the policies that one of the globs names, in the namespaces selected, until a moment.

    Deny leaves the policy's own `validationActions`; the first entry that fits wins.
    """

    policies: tuple[str, ...]
    mode: ModeName
    namespace_selector: LabelSelector | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Exempt:
    """Requests that no policy looks at. `users` and `groups` are exact names, `namespaces` too."""

    users: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    namespaces: frozenset[str] = frozenset()


NOBODY: Final = Exempt()


@dataclass(frozen=True, slots=True)
class ExceptedPolicy:
    """A policy by name (or glob) and those of its rules that are excepted; none named means all."""

    name: str
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PolicyException:
    """A documented way past some rules for some objects, until `expires_at`.

    `names` are object names (globs); empty means every object that `match` fits.
    """

    name: str
    policies: tuple[ExceptedPolicy, ...]
    match: MatchResources
    owner: str
    reason: str
    expires_at: datetime
    names: tuple[str, ...] = ()
    location: Location = NOWHERE

    @property
    def until(self) -> str:
        """When it ends, as RFC 3339 writes it, in UTC."""
        return self.expires_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, slots=True)
class Configuration:
    """`kind: Configuration`, given with `--config`. `policies` are paths relative to the file."""

    release: Minor | None = None
    modes: tuple[Mode, ...] = ()
    exempt: Exempt = NOBODY
    exceptions: tuple[PolicyException, ...] = ()
    policies: tuple[str, ...] = ()
