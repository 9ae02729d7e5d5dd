"""A constraint of Gatekeeper: of any kind that a ConstraintTemplate defines."""

from __future__ import annotations

from typing import Any, Final, Literal

from webhook.model import policy as model
from webhook.sources.formats import rules
from webhook.sources.formats.base import Mapped
from webhook.sources.formats.fields import Kind, Words
from webhook.sources.formats.gatekeeper_match import Match

_ACTIONS: Final = {"deny": model.Action.DENY, "warn": model.Action.WARN, "dryrun": model.Action.AUDIT}
_HERE: Final = ("validation.gatekeeper.sh", "*")
"""The enforcement points that this webhook is."""

Action = Literal["deny", "warn", "dryrun"]


class EnforcementPoint(Mapped):
    """One of those who evaluate constraints."""

    name: Words


class ScopedAction(Mapped):
    """What follows at some enforcement points."""

    action: Action
    enforcement_points: list[EnforcementPoint] = []


class ConstraintSpec(Mapped):
    """`spec` of a constraint."""

    match: Match = Match()
    parameters: Any = None
    enforcement_action: Literal["deny", "warn", "dryrun", "scoped"] = "deny"
    scoped_enforcement_actions: list[ScopedAction] = []


class Constraint(Mapped):
    """Where a template's rules hold, with what parameters, and what follows when one is broken."""

    api_version: Literal["constraints.gatekeeper.sh/v1beta1", "constraints.gatekeeper.sh/v1alpha1"]
    kind: Kind
    metadata: rules.Metadata
    spec: ConstraintSpec = ConstraintSpec()
    status: Any = None

    @property
    def called(self) -> str:
        """What results call it: two templates may have constraints of one name."""
        return f"{self.kind}/{self.metadata.name}"

    @property
    def actions(self) -> frozenset[model.Action]:
        """What a broken rule asks for here; nothing where all actions are for other enforcement points."""
        if self.spec.enforcement_action != "scoped":
            return frozenset({_ACTIONS[self.spec.enforcement_action]})
        scoped = self.spec.scoped_enforcement_actions
        return frozenset(_ACTIONS[one.action] for one in scoped if any(p.name in _HERE for p in one.enforcement_points))
