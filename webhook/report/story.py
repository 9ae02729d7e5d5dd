"""A decision told step by step, for people and for machines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from webhook.engine.decide import refuses
from webhook.engine.explain import subject
from webhook.model.decision import Change, Decision, Finding
from webhook.model.path import render
from webhook.model.story import Phase, PolicyStory, Step, Story, Told
from webhook.report.plain import shorten, visible
from webhook.report.style import Style
from webhook.report.text import COLUMNS, count, operation_words

VERSION: Final = 1

_HEADS: Final = {Phase.MUTATE: "what changes the object", Phase.VALIDATE: "what judges the object"}
_WITHHELD: Final = "values are withheld: they may hold a secret"
_COLOURS: Final = {"deny": "red", "error": "red", "warn": "yellow", "skip": "dim", "pass": "green", "audit": "cyan"}
_EXPRESSION: Final = 60
"""Columns of an expression beside its value."""


def story_lines(story: Story, style: Style) -> Iterator[str]:
    """Tell a decision from the request to the answer."""
    request = story.request
    who = f" by {request.user.username}" if request.user else ""
    yield style(visible(f"{request.operation} of {subject(request)}{who}, on Cozystack {story.release}"), "bold")
    if story.exempt:
        yield "no policy looks at it: the configuration exempts it"
    yield from _others(story)
    for phase, head in _HEADS.items():
        told = [one for one in story.policies if one.phase is phase]
        if told:
            yield from ("", style(head, "bold"))
        for one in told:
            yield from _policy(one, style)
    yield ""
    yield from _outcome(story, style)


def _others(story: Story) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for policy, why in story.not_candidates:
        reasons.setdefault(why, []).append(policy.name)
    for why, names in reasons.items():
        yield visible(f"{count(len(names), 'policy', 'policies')} {why}: {', '.join(names)}")


def _policy(told: PolicyStory, style: Style) -> Iterator[str]:
    yield f"  {style(visible(told.policy.name), 'bold')}"
    for condition in told.conditions:
        yield f"    only where {visible(condition.name)}: {visible(condition.result)}"
        yield from _steps(condition, style)
    if told.left:
        yield f"    is not asked: {visible(told.left)}"
    for change in told.changes:
        yield f"    changes: {visible(change.message)}"
        yield from (f"      {visible(line)}" for line in _operations(change))
    if not (told.left or told.changes or told.rules):
        nothing = {Phase.MUTATE: "to change", Phase.VALIDATE: "to look at: its lists are empty"}
        yield f"    has nothing {nothing[told.phase]}"
    for rule in told.rules:
        yield from _rule(rule, style)


def _rule(rule: Told, style: Style) -> Iterator[str]:
    element = f"[{rule.element}]" if rule.element is not None else ""
    result = style(rule.result, *([_COLOURS[rule.result]] if rule.result in _COLOURS else []))
    yield f"    rule {visible(rule.name + element)}: {result}"
    if rule.finding and rule.finding.message:
        yield f"      {visible(_where(rule.finding) + rule.finding.message)}"
    yield from _steps(rule, style)


def _where(finding: Finding) -> str:
    return f"{render(finding.field)}: " if finding.field else ""


def _steps(told: Told, style: Style) -> Iterator[str]:
    if told.steps is None:
        yield f"      {style(_WITHHELD, 'dim')}"
        return
    for step in told.steps:
        text = shorten(visible(" ".join(step.text.split())), _EXPRESSION)
        value = shorten(visible(value_words(step)), COLUMNS - _EXPRESSION)
        yield f"      {text:<{_EXPRESSION}}  {style(value, 'cyan')}"


def value_words(step: Step) -> str:
    """Say what a part of an expression gave."""
    return step.error or json.dumps(step.value, ensure_ascii=False)


def _operations(change: Change) -> Iterator[str]:
    """Say each operation; of one that may hold a secret, only where."""
    for operation in change.operations:
        yield f"{operation['op']} `{operation['path']}`" if change.secret else operation_words(operation)


def answer_words(decision: Decision) -> str:
    """Say the answer: which rules refuse, or how much was changed."""
    if decision.allowed:
        return "allowed" + (f", with {count(len(decision.patch), 'change')}" if decision.patch else "")
    refusals = list(filter(refuses, decision.findings))
    rules = ", ".join(f"{one.policy.name} ({one.rule})" for one in refusals)
    return f"refused by {count(len(refusals), 'rule')}: {rules}"


def _outcome(story: Story, style: Style) -> Iterator[str]:
    colour = "green" if story.decision.allowed else "red"
    yield style(visible(answer_words(story.decision)), "bold", colour)
    for warning in story.warnings:
        yield f"  warning: {visible(warning)}"


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
    return entry | {"steps": None if told.steps is None else list(_step_entries(told.steps))}


def _step_entries(steps: Iterable[Step]) -> Iterator[Mapping[str, Any]]:
    for step in steps:
        yield {"text": step.text, "error": step.error} if step.error else {"text": step.text, "value": step.value}


def _change_entry(change: Change) -> dict[str, Any]:
    operations = [
        {key: value for key, value in one.items() if key != "value" or not change.secret} for one in change.operations
    ]
    return {"message": change.message, "operations": operations}
