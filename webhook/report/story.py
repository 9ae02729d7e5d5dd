"""A decision told step by step, for people."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from webhook.engine.decide import refuses
from webhook.engine.explain import subject
from webhook.model.decision import Change, Decision, Finding
from webhook.model.path import render
from webhook.model.story import Junction, Phase, PolicyStory, Reason, Step, Story, Told
from webhook.report.plain import shorten, visible
from webhook.report.style import Style
from webhook.report.text import COLUMNS, count, operation_words

_HEADS: Final = {Phase.MUTATE: "what changes the object", Phase.VALIDATE: "what judges the object"}
_WITHHELD: Final = "values are withheld: they may hold a secret"
_COLOURS: Final = {"deny": "red", "error": "red", "warn": "yellow", "skip": "dim", "pass": "green", "audit": "cyan"}
_HELD: Final[dict[tuple[Junction | None, bool], str]] = {
    (Junction.ANY, False): "one of these has to be true, and none is",
    (Junction.ALL, False): "all of it has to be true, and this is not",
    (None, False): "this has to be true, and is not",
    (Junction.ANY, True): "one thing has to be true, and this is",
    (Junction.ALL, True): "all of these have to be true, and are",
    (None, True): "this has to be true, and is",
}
"""What an expression asks for and what of it is so, in words for those who do not read `||` and `&&`."""
_VALUE: Final = 200
"""Characters of a value; what is longer is in the document of `-o json`."""
_NAMED: Final = 4
"""Policies that are named, of those that have nothing to say."""


@dataclass(frozen=True, slots=True)
class Telling:
    """How much is told, and how wide."""

    style: Style
    columns: int = COLUMNS
    everything: bool = False
    """Rules that hold and policies that are not asked by name, too."""


def story_lines(story: Story, telling: Telling) -> Iterator[str]:
    """Tell a decision from the request to the answer."""
    request, style = story.request, telling.style
    who = f" by {request.user.username}" if request.user else ""
    asked = f"{request.operation} of {subject(request)}{who}, on Cozystack {story.release}"
    yield from (style(line, "bold") for line in _wrapped(asked, "", telling.columns))
    if story.exempt:
        yield "no policy looks at it: the configuration exempts it"
    yield from _grouped(((policy.name, why) for policy, why in story.not_candidates), "", telling)
    for phase, head in _HEADS.items():
        told = [one for one in story.policies if one.phase is phase]
        if told:
            yield from ("", style(head, "bold"))
        silent = [] if telling.everything else [(one.policy.name, _silence(one)) for one in told if _silence(one)]
        yield from _grouped(silent, "  ", telling)
        for one in told:
            if telling.everything or not _silence(one):
                yield from _policy(one, telling)
    yield ""
    yield from _outcome(story, telling)


def _silence(told: PolicyStory) -> str:
    """Say why a policy has nothing to say, or nothing at all where it has."""
    if told.left:
        return told.left
    spoken = bool(told.changes) or any(rule.result != "pass" for rule in told.rules)
    return "" if spoken else {Phase.MUTATE: "nothing to change", Phase.VALIDATE: "nothing to object"}[told.phase]


def _grouped(silent: Iterable[tuple[str, str]], indent: str, telling: Telling) -> Iterator[str]:
    """Count the policies that have nothing to say by what keeps them silent; name a few, or all that are asked for."""
    reasons: dict[str, list[str]] = {}
    for name, why in silent:
        reasons.setdefault(why, []).append(name)
    for why, names in reasons.items():
        named = f" ({', '.join(names)})" if telling.everything or len(names) <= _NAMED else ""
        line = f"{why.removeprefix('it is ')}: {count(len(names), 'policy', 'policies')}{named}"
        yield from _wrapped(line, indent, telling.columns)


def _wrapped(text: str, indent: str, columns: int) -> list[str]:
    """Break a text at blanks; a path or an expression without any stays whole, to be found and copied."""
    return textwrap.wrap(
        visible(text),
        columns,
        initial_indent=indent,
        subsequent_indent=indent + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _policy(told: PolicyStory, telling: Telling) -> Iterator[str]:
    style = telling.style
    yield f"  {style(visible(told.policy.name), 'bold')}"
    for condition in told.conditions:
        yield f"    only where {visible(condition.name)}: {visible(condition.result)}"
        if telling.everything:
            yield from _why(condition, telling)
    if told.left:
        yield f"    is not asked: {visible(told.left)}"
    for change in told.changes:
        yield from _wrapped(f"changes: {change.message}", "    ", telling.columns)
        for line in _operations(change):
            yield from _wrapped(line, "      ", telling.columns)
    if not (told.left or told.changes or told.rules):
        nothing = {Phase.MUTATE: "to change", Phase.VALIDATE: "to look at: its lists are empty"}
        yield f"    has nothing {nothing[told.phase]}"
    for rule in told.rules:
        if telling.everything or rule.result != "pass":
            yield from _rule(rule, telling)


def _rule(rule: Told, telling: Telling) -> Iterator[str]:
    style = telling.style
    element = f"[{rule.element}]" if rule.element is not None else ""
    result = style(rule.result, *([_COLOURS[rule.result]] if rule.result in _COLOURS else []))
    yield f"    rule {visible(rule.name + element)}: {result}"
    if rule.finding and rule.finding.message:
        yield from _wrapped(_where(rule.finding) + rule.finding.message, "      ", telling.columns)
    yield from _why(rule, telling)


def _where(finding: Finding) -> str:
    return f"{render(finding.field)}: " if finding.field else ""


def _why(told: Told, telling: Telling) -> Iterator[str]:
    """Tell what an expression wanted, and what of it was so; of one that erred, what it had read until then."""
    if told.steps is None:
        yield f"      {telling.style(_WITHHELD, 'dim')}"
    elif told.reason is None:
        for step in told.steps:
            yield from _wrapped(f"{_one_line(step.text)} is {value_words(step)}", "      ", telling.columns)
    else:
        yield f"      {_HELD[told.reason.junction, bool(told.reason.value)]}:"
        for part in told.reason.because if told.reason.junction else (told.reason,):
            yield from _outline(part, "        ", telling)


def _outline(reason: Reason, indent: str, telling: Telling) -> Iterator[str]:
    """Tell a part and what made it so, a level deeper."""
    text, value = _one_line(reason.text), "not there" if reason.absent else json.dumps(reason.value, ensure_ascii=False)
    place = f" ({render(reason.path)})" if reason.path else ""
    if reason.because and isinstance(reason.value, bool):
        yield from _wrapped(f"{value}: {text}", indent, telling.columns)
    else:
        yield from _wrapped(f"{text} is {shorten(value, _VALUE)}{place}", indent, telling.columns)
    for part in reason.because:
        yield from _outline(part, indent + "  ", telling)


def _one_line(expression: str) -> str:
    return " ".join(expression.split())


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


def _outcome(story: Story, telling: Telling) -> Iterator[str]:
    colour = "green" if story.decision.allowed else "red"
    for line in _wrapped(answer_words(story.decision), "", telling.columns):
        yield telling.style(line, "bold", colour)
    for warning in story.warnings:
        yield from _wrapped(f"warning: {warning}", "  ", telling.columns)
