"""Which policies a registration is for, and what each asks of a request that the API server can test for us."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Final

from webhook.controller.resources import Pattern, literal, never
from webhook.engine.configure import softened
from webhook.model.configuration import Configuration
from webhook.model.policy import Action, FailurePolicy, Policy, ResourceRule
from webhook.model.release import Minor
from webhook.model.request import CONNECT, CREATE, OPERATIONS, UPDATE

_MUTABLE: Final = (CREATE, UPDATE, CONNECT)

_AGGREGATED: Final = "apps.cozystack.io"
"""Served by Cozystack's own API server, which asks validating webhooks alone: a mutating one would never be called."""

_OURS_ALONE: Final = re.compile(r"\b(variables|lookups|release|acknowledged|params|authorizer|namespaceObject)\b")
"""What the match conditions of a webhook do not have, or not with the same value, or at a price."""
_KYVERNOS_TOO: Final = re.compile(rf"{_OURS_ALONE.pattern}|\borValue\b")
"""For Kyverno `orValue` takes what is no optional, too, which is an error to the API server."""


@dataclass(frozen=True, slots=True)
class Interest:
    """One kind of resource that a policy looks at. `guard` is CEL for "it wants this request"; "" wants all."""

    pattern: Pattern
    versions: frozenset[str]
    operations: frozenset[str]
    scope: str
    failure_policy: FailurePolicy
    guard: str


def interests(
    policies: Iterable[Policy], release: Minor, configuration: Configuration, now: datetime, *, mutating: bool
) -> Iterator[Interest]:
    """Tell what the policies in force look at, those that change or those that judge."""
    for policy in policies:
        concerned = policy.mutations if mutating else policy.validations or policy.audit_annotations
        actions = possible_actions(policy, configuration, now)
        if concerned and actions and (policy.releases is None or release in policy.releases):
            for rule in policy.match.resource_rules:
                yield from _interests(policy, rule, _failure_policy(policy, actions), mutating=mutating)


def possible_actions(policy: Policy, configuration: Configuration, now: datetime) -> frozenset[Action]:
    """Give all that a broken rule may ask for in some namespace; nothing where the policy is off in all."""
    possible: frozenset[Action] = frozenset()
    for mode in configuration.modes:
        if (mode.until is None or now < mode.until) and any(fnmatchcase(policy.name, glob) for glob in mode.policies):
            possible |= softened(policy.actions, mode.mode)
            if mode.namespace_selector is None:
                return possible
    return possible | policy.actions


def _failure_policy(policy: Policy, actions: frozenset[Action]) -> FailurePolicy:
    """No request is refused for the sake of a policy that would only have warned.

    An audit annotation that fails denies, as in Kubernetes, whatever the actions are.
    """
    refuses = Action.DENY in actions or policy.audit_annotations
    return policy.failure_policy if refuses else FailurePolicy.IGNORE


def _interests(
    policy: Policy, rule: ResourceRule, failure_policy: FailurePolicy, *, mutating: bool
) -> Iterator[Interest]:
    operations = frozenset(OPERATIONS if "*" in rule.operations else rule.operations)
    if mutating:
        operations = operations.intersection(_MUTABLE)
    for group in rule.api_groups:
        for resource in rule.resources:
            pattern = Pattern(group, resource)
            if operations and not never(pattern) and not (mutating and group == _AGGREGATED):
                versions = frozenset(rule.api_versions)
                yield Interest(pattern, versions, operations, rule.scope, failure_policy, _guard(policy, rule))


def _guard(policy: Policy, rule: ResourceRule) -> str:
    """Write what else the policy asks for as one expression; what the API server cannot test is left out."""
    ours_alone = _KYVERNOS_TOO if policy.kyvernos else _OURS_ALONE
    conditions = [one.expression.text for one in policy.match_conditions]
    guards = [f"({text.strip()})" for text in conditions if not ours_alone.search(text)]
    if rule.resource_names:
        guards.append(f"request.?name.orValue('') in {literal(rule.resource_names)}")
    return " && ".join(guards)
