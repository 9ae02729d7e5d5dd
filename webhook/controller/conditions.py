"""The `status` of a policy or an exception that is installed: what of it is in force, and what is wrong with it.

The shapes are those of `webhook/sources/formats/status.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Final

from webhook.engine.compile import CompiledPolicy
from webhook.errors import DocumentError, did_you_mean
from webhook.model.configuration import ExceptedPolicy, PolicyException
from webhook.model.policy import Policy
from webhook.model.request import Object
from webhook.sources.installed import Standing

_LONGEST: Final = 32_768
"""Characters of a condition's message (`metav1.Condition`)."""
_NAMED: Final = 10
"""So many policies does a message name."""

Rules = Mapping[str, frozenset[str]]
"""The policies that there are, with the names of their rules."""


def rules_of(policies: Iterable[Policy]) -> Rules:
    """Name the rules of each policy."""
    return {policy.name: frozenset(rule.name for rule in policy.validations) for policy in policies}


def policy_status(standing: Standing[CompiledPolicy], *, replaces: bool, before: Object, now: datetime) -> Object:
    """Tell what became of a policy; `replaces` one of its name that comes from files, `before` is the status so far."""
    if standing.faults:
        stays = f"generation {standing.since} stays in force" if standing.in_force else "no version of it is in force"
        if replaces and not standing.in_force:
            stays = "the policy of its name that comes with the server stays in force"
        ready = ("False", "Invalid", "\n".join([*map(_fault, standing.faults), stays]))
    elif replaces:
        ready = ("True", "Replaces", "in force, in place of the policy of its name that comes with the server")
    else:
        ready = ("True", "InForce", "in force")
    status = _status("Ready", ready, standing.object, before, now)
    if standing.since is not None:
        status["inForce"] = standing.since
    if standing.last_good is not None:
        status["lastGood"] = {"generation": standing.since, "spec": standing.last_good}
    return status


def exception_status(standing: Standing[PolicyException], policies: Rules, *, before: Object, now: datetime) -> Object:
    """Tell what became of an exception."""
    active = _active(standing, policies, now)
    names = [entry["name"] for entry in standing.object["spec"]["policies"]]
    return _status("Active", active, standing.object, before, now) | {"policies": ", ".join(names[:_NAMED])}


def _active(standing: Standing[PolicyException], policies: Rules, now: datetime) -> tuple[str, str, str]:
    exception = standing.in_force
    if exception is None:
        return "False", "Invalid", "\n".join(map(_fault, standing.faults))
    if exception.expires_at <= now:
        return "False", "Expired", f"expired at {exception.until}"
    excepted = list(dict.fromkeys(name for one in exception.policies for name in _excepted(one, policies)))
    strange = "\n".join(fault for one in exception.policies for fault in _strange(one, policies))
    if not excepted:
        return "False", "NoSuchPolicy", strange
    more = f" and {len(excepted) - _NAMED} more" if len(excepted) > _NAMED else ""
    told = f"until {exception.until}, for {', '.join(f'`{name}`' for name in excepted[:_NAMED])}{more}"
    return "True", "InForce", f"{told}\n{strange}".strip()


def _excepted(one: ExceptedPolicy, policies: Rules) -> Iterator[str]:
    """Name the policies that an entry lets pass, in whole or in part."""
    for name, rules in policies.items():
        if fnmatchcase(name, one.name) and (not one.rules or not rules.isdisjoint(one.rules)):
            yield name


def _strange(one: ExceptedPolicy, policies: Rules) -> Iterator[str]:
    """Say which names nothing has."""
    named = [rules for name, rules in policies.items() if fnmatchcase(name, one.name)]
    if not named:
        yield f"no policy is called `{one.name}`{did_you_mean(one.name, policies)}"
        return
    known = frozenset[str]().union(*named)
    for rule in one.rules:
        if rule not in known:
            yield f"`{one.name}` has no rule `{rule}`{did_you_mean(rule, known)}"


def _fault(fault: DocumentError) -> str:
    """Write a fault of an object: lines and columns are those of the expression."""
    place = f"{fault.path}, line {fault.line}, column {fault.column}" if fault.line else fault.path
    return f"{place}: {fault.message}"


def _status(kind: str, told: tuple[str, str, str], obj: Object, before: Object, now: datetime) -> Object:
    status, reason, message = told
    generation = obj["metadata"].get("generation", 0)
    since = _moment(now)
    for condition in before.get("conditions", ()):
        if condition["type"] == kind and condition["status"] == status:
            since = condition["lastTransitionTime"]
    condition = {
        "type": kind,
        "status": status,
        "observedGeneration": generation,
        "lastTransitionTime": since,
        "reason": reason,
        "message": message if len(message) <= _LONGEST else message[: _LONGEST - 1] + "…",
    }
    return {"observedGeneration": generation, "conditions": [condition]}


def _moment(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
