"""What a policy is, in a few words: shared by the pages of the documentation and by `explain`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from webhook.model.policy import Action, Lookup, Policy, ResourceRule

_ACTIONS: Final = {Action.DENY: "denied", Action.WARN: "a warning", Action.AUDIT: "an audit annotation"}


def facts(policy: Policy) -> Iterator[tuple[str, list[str]]]:
    """Give what there is to know before the rules: a title, and a line or more."""
    yield "severity", [policy.severity.value]
    yield "Cozystack", [f"`{policy.releases.text}`" if policy.releases else "every release"]
    yield "looks at", [*map(rule, policy.match.resource_rules)]
    if policy.lookups:
        yield "looks up", [", ".join(map(lookup, policy.lookups))]
    if policy.mutations:
        yield "patches", ["yes"]
    yield "otherwise", [action(policy)]
    if policy.on_existing_violation is Action.WARN and Action.DENY in policy.actions:
        yield "an update of what was so before", ["a warning"]


def action(policy: Policy) -> str:
    """Say what becomes of a request that breaks a rule."""
    return ", ".join(word for action, word in _ACTIONS.items() if action in policy.actions)


def rule(rule: ResourceRule) -> str:
    """Say which requests a resource rule is about."""
    named = f" called {_or(rule.resource_names)}" if rule.resource_names else ""
    groups = ", ".join(group or "core" for group in rule.api_groups)
    return f"{', '.join(rule.operations)} of {_or(rule.resources)} ({groups}){named}"


def lookup(lookup: Lookup) -> str:
    """Say which other objects a policy reads."""
    return f"{lookup.kind} {lookup.object_name.literal}".strip()


def _or(names: Iterable[str]) -> str:
    return " or ".join(f"`{name}`" for name in names)
