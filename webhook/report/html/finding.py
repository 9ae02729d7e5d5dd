"""One finding, or one change of a mutation, as a part of a page that unfolds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, NamedTuple

from webhook.model import path
from webhook.model.decision import Finding
from webhook.model.fragment import scalar
from webhook.model.policy import Policy
from webhook.model.result import Edit, Patch, Picture, Resource, Result, Source
from webhook.report.finding import Weight, weight
from webhook.report.fragment import difference
from webhook.report.html.page import link, text
from webhook.report.plain import visible
from webhook.report.text import CHOICES, COLUMNS, fix_words, manager_words, place, silencer_words

_MESSAGE: Final = 2000
_VALUE: Final = 200
_DIFFERENCE: Final = 24
"""Characters of a message and of a value, lines of a diff: more is cut, so that a page stays within bounds."""


class Look(NamedTuple):
    """What a finding comes to: the name of its colour, the word for it, and the nouns that count it."""

    name: str
    word: str
    one: str
    many: str


LOOKS: Final = {
    Weight.FAILURE: Look("deny", "denied", "denial", "denials"),
    Weight.ERROR: Look("error", "error", "error", "errors"),
    Weight.WARNING: Look("warn", "warning", "warning", "warnings"),
    Weight.NOTE: Look("audit", "audit", "audit finding", "audit findings"),
    Weight.SKIPPED: Look("skip", "not checked", "not checked", "not checked"),
    Weight.SILENCED: Look("silenced", "silenced", "silenced", "silenced"),
    Weight.PASSED: Look("pass", "passed", "passed", "passed"),
}
PATCHED: Final = Look("patch", "patched", "patch", "patches")
BROKEN: Final = tuple(LOOKS[one] for one in (Weight.FAILURE, Weight.ERROR, Weight.WARNING, Weight.NOTE))
ALL: Final = (*BROKEN, PATCHED, *(look for look in LOOKS.values() if look not in BROKEN))
"""The worst first."""


class Entry(NamedTuple):
    """What the list of a page has a line for: by what it is found and sorted, and how it is written."""

    look: Look
    policy: Policy
    resource: Resource
    html: str

    @property
    def namespace(self) -> str:
        """Name the object's namespace, as people see it."""
        return visible(self.resource.namespace) or "(no namespace)"

    @property
    def rank(self) -> tuple[int, int]:
        """Sorts the worst first."""
        return ALL.index(self.look), self.policy.severity.rank


def of_result(result: Result) -> Entry:
    """Write a finding."""
    look, finding = LOOKS[weight(result)], result.finding
    first, *more = finding.message.splitlines() or [f"rule {finding.rule} holds"]
    lines = "".join(f"<p>{text(line, _MESSAGE)}</p>" for line in more[:CHOICES])
    body = lines + _list(_facts(result)) + _figures(*_picture(result.picture))
    html = _unfolding(look, finding.policy, finding.rule, first, result.resource, body)
    return Entry(look, finding.policy, result.resource, html)


def of_patch(patch: Patch) -> Entry:
    """Write a change."""
    change = patch.change
    message = " ".join(change.message.split()) or "changed"
    body = _list(_place(patch.source, patch.resource)) + _figures(*_difference("what it changes", patch.edits))
    html = _unfolding(PATCHED, change.policy, "", message, patch.resource, body)
    return Entry(PATCHED, change.policy, patch.resource, html)


def _unfolding(look: Look, policy: Policy, rule: str, message: str, resource: Resource, body: str) -> str:
    name = text(policy.name) + (f" / {text(rule)}" if rule else "")
    severity = policy.severity.value
    return (
        f'<details class="finding {look.name}"><summary><b class="tag {look.name}">{look.word}</b>'
        f'<span class="severity {severity}">{severity}</span><span class="said"><strong>{text(message, _MESSAGE)}'
        f'</strong> <small>{name}</small></span><span class="what">{text(resource.kind)} '
        f'<span class="name">{_name(resource)}</span></span></summary><div class="body">{body}</div></details>'
    )


def _name(resource: Resource) -> str:
    """Write namespace and name, with a place to break between them."""
    return (f"{text(resource.namespace)}/<wbr>" if resource.namespace else "") + text(resource.name)


def _facts(result: Result) -> Iterator[tuple[str, str]]:
    """Say what there is to say, each with its head."""
    finding = result.finding
    if finding.field:
        yield "path", f"<code>{text(path.render(finding.field), _MESSAGE)}</code>"
    if finding.has_value:
        yield "found", f"<code>{text(scalar(finding.value), _VALUE)}</code>"
    if finding.allowed:
        yield "allowed", _allowed(finding)
    if finding.suggestion is not None:
        yield "did you mean", f"<code>{text(scalar(finding.suggestion), _VALUE)}</code>"
    if finding.why:
        yield "why", text(finding.why, _MESSAGE)
    if words := fix_words(finding):
        yield "fix", text(words, _MESSAGE) + (" <small>(check --fix does it)</small>" if result.fixable else "")
    if result.set_by:
        yield "set by", text(manager_words(result.set_by))
    if result.silenced:
        yield "silenced by", f"{text(silencer_words(result.silenced))}: {text(result.silenced.reason, _MESSAGE)}"
    yield from _place(result.source, result.resource)
    if finding.policy.docs:
        yield "docs", link(finding.policy.docs, finding.policy.docs)


def _allowed(finding: Finding) -> str:
    shown = " ".join(f"<code>{text(scalar(value), _VALUE)}</code>" for value in finding.allowed[:CHOICES])
    left = len(finding.allowed) - CHOICES
    return shown + (f" and {left} more" if left > 0 else "")


def _place(source: Source, resource: Resource) -> Iterator[tuple[str, str]]:
    """Say where it is written; of what comes from a cluster the summary says all."""
    if source.file and source.file != str(resource):
        yield "at", f"<code>{text(place(source))}</code>"


def _list(parts: Iterable[tuple[str, str]]) -> str:
    return "<dl>" + "".join(f"<dt>{head}</dt><dd>{said}</dd>" for head, said in parts) + "</dl>"


def _picture(picture: Picture | None) -> Iterator[str]:
    """Draw the object around the field, and what the fix would change."""
    if picture is None:
        return
    lines = (
        f"<mark>{text(line, COLUMNS)}</mark>" if index in picture.marked else f"<span>{text(line, COLUMNS)}</span>"
        for index, line in enumerate(picture.lines)
    )
    yield _figure("the object", lines)
    yield from _difference("the fix", picture.edits)


def _difference(caption: str, edits: Iterable[Edit]) -> Iterator[str]:
    lines = list(islice(difference(edits), _DIFFERENCE + 1))
    if len(lines) > _DIFFERENCE:
        lines[_DIFFERENCE] = "  …"
    tags = {"+": "ins", "-": "del"}
    drawn = ((tags.get(line[0], "span"), line) for line in lines)
    if lines:
        yield _figure(caption, (f"<{tag}>{text(line, COLUMNS)}</{tag}>" for tag, line in drawn))


def _figure(caption: str, lines: Iterable[str]) -> str:
    return f'<figure><figcaption>{caption}</figcaption><pre tabindex="0">{"".join(lines)}</pre></figure>'


def _figures(*figures: str) -> str:
    return f'<div class="figures">{"".join(figures)}</div>' if figures else ""
