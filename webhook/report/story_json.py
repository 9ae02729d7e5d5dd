"""A decision told step by step, for machines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from webhook.model.decision import Change
from webhook.model.path import render
from webhook.model.story import PolicyStory, Reason, Step, Story, Told

VERSION: Final = 1


def story_document(story: Story) -> dict[str, Any]:
    """Make the document of `-o json`; `steps` is null where values are withheld."""
    request, decision = story.request, story.decision
    return {
        "version": VERSION,
        "release": story.release,
        "request": {
            "uid": request.uid,
            "operation": request.operation,
            "apiVersion": request.kind.api_version,
            "kind": request.kind.kind,
            "namespace": request.namespace,
            "name": request.display_name,
            "user": request.user.username if request.user else None,
        },
        "exempt": story.exempt,
        "allowed": decision.allowed,
        "warnings": list(story.warnings),
        "notAsked": [{"policy": policy.name, "why": why} for policy, why in story.not_candidates],
        "policies": [_policy_entry(one) for one in story.policies],
    }


def _policy_entry(told: PolicyStory) -> dict[str, Any]:
    return {
        "policy": told.policy.name,
        "phase": told.phase.value,
        "left": told.left,
        "conditions": [_told_entry(one) for one in told.conditions],
        "changes": [_change_entry(one) for one in told.changes],
        "rules": [_told_entry(one) for one in told.rules],
    }


def _told_entry(told: Told) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": told.name, "expression": told.text, "result": told.result}
    if told.element is not None:
        entry["element"] = told.element
    if told.finding and told.finding.message:
        entry |= {"message": told.finding.message, "field": render(told.finding.field)}
    return entry | {
        "steps": None if told.steps is None else list(_step_entries(told.steps)),
        "reason": _reason_entry(told.reason) if told.reason else None,
    }


def _reason_entry(reason: Reason) -> dict[str, Any]:
    entry: dict[str, Any] = {"text": reason.text} | ({} if reason.absent else {"value": reason.value})
    if reason.path:
        entry["field"] = render(reason.path)
    return entry | ({"because": list(map(_reason_entry, reason.because))} if reason.because else {})


def _step_entries(steps: Iterable[Step]) -> Iterator[Mapping[str, Any]]:
    for step in steps:
        yield {"text": step.text, "error": step.error} if step.error else {"text": step.text, "value": step.value}


def _change_entry(change: Change) -> dict[str, Any]:
    operations = [
        {key: value for key, value in one.items() if key != "value" or not change.secret} for one in change.operations
    ]
    return {"message": change.message, "operations": operations}
