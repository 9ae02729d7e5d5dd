"""What can be tried at the playground and what came of it, as its page reads it: text that is safe to show."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, Final

from webhook.errors import DocumentError
from webhook.model import path
from webhook.model.decision import Outcome
from webhook.model.fragment import scalar
from webhook.model.policy import Policy
from webhook.model.result import Patch, Result
from webhook.model.story import PolicyStory, Story, Told
from webhook.model.trial import Start, Tried
from webhook.report.finding import weight
from webhook.report.fragment import difference
from webhook.report.html.finding import LOOKS
from webhook.report.plain import shorten, visible
from webhook.report.story import answer_words, value_words
from webhook.report.text import CHOICES, fix_words

_MOST: Final = 100
_LONGEST: Final = 400
"""Findings, and rules of a policy, one for each element of a list; characters of a value: more is cut and counted."""


def trial_document(tried: Tried) -> dict[str, Any]:
    """Tell a try: its faults, and where it could be decided the answer, what was found and changed, and every step."""
    faults = {"errors": list(map(_fault, tried.errors)), "notices": list(map(_fault, tried.notices))}
    if tried.story is None or tried.checked is None:
        return faults
    return {
        **faults,
        **_answer(tried.story),
        **_findings(tried.checked.results),
        "changes": list(map(_change, tried.checked.patches)),
    }


def policies_document(policies: Iterable[Policy]) -> list[dict[str, str]]:
    """List policies to start from."""
    return [{"name": one.name, "title": visible(one.title), "category": visible(one.category)} for one in policies]


def start_document(text: str, cases: Iterable[Start]) -> dict[str, Any]:
    """Give one of them, with its cases."""
    return {"policy": text, "cases": [asdict(case) for case in cases]}


def _fault(error: DocumentError) -> dict[str, Any]:
    return {
        "file": error.file,
        "line": error.line,
        "column": error.column,
        "path": visible(error.path),
        "message": visible(error.message),
    }


def _answer(story: Story) -> dict[str, Any]:
    return {
        "allowed": story.decision.allowed,
        "answer": visible(answer_words(story.decision)),
        "exempt": story.exempt,
        "release": story.release,
        "warnings": list(map(visible, story.warnings)),
        "notAsked": [{"policy": visible(one.name), "why": visible(why)} for one, why in story.not_candidates],
        "policies": list(map(_policy, story.policies)),
    }


def _policy(told: PolicyStory) -> dict[str, Any]:
    return {
        "policy": visible(told.policy.name),
        "phase": told.phase.value,
        "left": visible(told.left),
        "changes": len(told.changes),
        "conditions": list(map(_told, told.conditions)),
        "rules": list(map(_told, told.rules[:_MOST])),
        "moreRules": max(0, len(told.rules) - _MOST),
    }


def _told(told: Told) -> dict[str, Any]:
    """Tell an expression; `steps` is null where values are withheld."""
    element = f"[{told.element}]" if told.element is not None else ""
    steps = None if told.steps is None else [[_cut(one.text), _cut(value_words(one))] for one in told.steps]
    return {"name": visible(told.name + element), "result": visible(told.result), "steps": steps}


def _findings(results: Iterable[Result]) -> dict[str, Any]:
    found = [result for result in results if result.finding.outcome is not Outcome.PASS]
    return {"findings": list(map(_finding, found[:_MOST])), "moreFindings": max(0, len(found) - _MOST)}


def _finding(result: Result) -> dict[str, Any]:
    finding, look = result.finding, LOOKS[weight(result)]
    near = finding.suggestion
    return {
        "look": look.name,
        "word": look.word,
        "policy": visible(finding.policy.name),
        "rule": visible(finding.rule),
        "message": visible(finding.message),
        "moreAllowed": max(0, len(finding.allowed) - CHOICES),
        "field": visible(path.render(finding.field)),
        "value": _cut(scalar(finding.value)) if finding.has_value else "",
        "allowed": [_cut(scalar(value)) for value in finding.allowed[:CHOICES]],
        "suggestion": "" if near is None else visible(scalar(near)),
        "why": visible(finding.why),
        "fix": visible(fix_words(finding)),
        "file": result.source.file,
        "line": result.source.line,
        "column": result.source.column,
        "length": result.source.length,
    }


def _change(patch: Patch) -> dict[str, Any]:
    return {
        "policy": visible(patch.change.policy.name),
        "message": visible(patch.change.message),
        "lines": list(map(visible, difference(patch.edits))),
    }


def _cut(text: str) -> str:
    return visible(shorten(text[: 2 * _LONGEST], _LONGEST))
