"""Verdicts, actions and failurePolicy → what becomes of the request."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Final

from webhook.engine.evaluate import Status, Verdict
from webhook.model.decision import Finding, Outcome
from webhook.model.policy import Action, FailurePolicy, Policy

_AUDIT_ENTRIES: Final = 50
"""Entries in one `validation_failure` annotation; the API server keeps as many."""

_RANK: Final = {
    outcome: rank
    for rank, outcome in enumerate(
        (Outcome.DENY, Outcome.ERROR, Outcome.WARN, Outcome.AUDIT, Outcome.SKIP, Outcome.PASS)
    )
}


def outcome(
    verdict: Verdict, policy: Policy, actions: frozenset[Action], *, existed: bool, skip_unknown: bool
) -> tuple[Outcome, bool]:
    """Decide what one verdict comes to: (outcome, is our own failure ignored).

    `existed`: the old object breaks the same rule, so a controller must be able to go on.
    """
    match verdict.status:
        case Status.PASS:
            return Outcome.PASS, False
        case Status.SKIP if skip_unknown:
            return Outcome.SKIP, False
        case Status.FAIL:
            return _asked_for(actions, Outcome.WARN if existed else Outcome.DENY), False
        case _:
            if policy.failure_policy is FailurePolicy.IGNORE:
                return Outcome.ERROR, True
            return _asked_for(actions, Outcome.ERROR), False


def _asked_for(actions: frozenset[Action], denial: Outcome) -> Outcome:
    if Action.DENY in actions:
        return denial
    return Outcome.WARN if Action.WARN in actions else Outcome.AUDIT


def refuses(finding: Finding) -> bool:
    """Is the request refused for this finding."""
    return finding.outcome is Outcome.DENY or (finding.outcome is Outcome.ERROR and not finding.ignored)


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort findings: those that refuse first, then by severity, then by policy, as evaluated within one."""
    return tuple(sorted(findings, key=lambda f: (f.ignored, _RANK[f.outcome], f.policy.severity.rank, f.policy.name)))


def validation_failures(findings: Sequence[tuple[Finding, frozenset[Action]]]) -> dict[str, str]:
    """Write the audit annotation of rules that ask for Audit, in the form of a ValidatingAdmissionPolicy."""
    entries = [
        {
            "message": finding.message,
            "policy": finding.policy.name,
            "binding": finding.policy.binding,
            "rule": finding.rule,
            "validationActions": sorted(actions),
        }
        for finding, actions in findings
        if Action.AUDIT in actions and finding.outcome not in (Outcome.PASS, Outcome.SKIP) and not finding.ignored
    ]
    return {"validation_failure": json.dumps(entries[:_AUDIT_ENTRIES])} if entries else {}
