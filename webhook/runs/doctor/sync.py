"""Is the API server told to send what our installed policies judge: the leader may be unable to write it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from webhook.engine.match import rules_may_match
from webhook.model.diagnosis import Diagnosis, Level
from webhook.model.policy import MatchResources
from webhook.runs.doctor.inventory import Held, Inventory, Registered
from webhook.runs.doctor.question import any_version
from webhook.runs.doctor.samples import ADMINISTRATOR, Sample


def unsent(inventory: Inventory, ours: list[Held]) -> Iterator[Diagnosis]:
    """Find policies in force with a resource that no webhook of ours names. Selectors and conditions are left aside.

    Which releases a policy holds on, and what the configuration makes of it, is known to the server alone: one with
    `releases` is passed over.
    """
    matches = [
        each.webhook.match for each in inventory.registered() if isinstance(each, Registered) and each.held in ours
    ]
    if not matches:
        return
    for policy in inventory.list("AdmissionPolicy"):
        if policy.get("spec").get("releases") or not _is_in_force(policy):
            continue
        for index, rule in enumerate(policy.list("spec", "matchConstraints", "resourceRules")):
            if missing := next((what for what in _named(rule) if not _sent(what, matches)), None):
                operation, group, resource = missing
                yield policy.find(
                    Level.WARNING,
                    "not-sent",
                    ("spec", "matchConstraints", "resourceRules", index),
                    f"is in force, and the API server is not told to ask about {operation} of `{resource}`"
                    + (f" ({group})" if group else ""),
                    "unless the configuration switches it off, nothing of that is judged",
                    "see the log of the replica that leads: it says what keeps it from writing the registration",
                )
                break


def _is_in_force(policy: Held) -> bool:
    return any(
        each.get("type") == "Ready" and each.get("status") == "True" for each in policy.list("status", "conditions")
    )


def _named(rule: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Give what a rule names, one by one: operation, group, resource. `*` stands for what cannot be listed."""
    match rule:
        case {"operations": [*operations], "apiGroups": [*groups], "resources": [*resources]}:
            named = product(map(str, operations), map(str, groups), map(str, resources))
            yield from (what for what in named if "*" not in "".join(what))


def _sent(what: tuple[str, str, str], matches: list[MatchResources]) -> bool:
    """Does any webhook fit, of an object in a namespace or in none: nobody here knows the scope of every kind."""
    operation, group, resource = what
    version = f"{group}/v1" if group else "v1"
    samples = [
        Sample(operation, version, "Object", resource, ADMINISTRATOR, namespace) for namespace in ("", "tenant-example")
    ]
    return any(rules_may_match(any_version(match), each.request()) for match in matches for each in samples)
