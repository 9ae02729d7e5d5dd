"""Findings as compilers write them: place, what is wrong, the line itself, why, and the way out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TextIO

from webhook.errors import DocumentError
from webhook.model import path
from webhook.model.decision import Finding, Outcome
from webhook.model.fragment import scalar
from webhook.model.recorded import Asked
from webhook.model.result import Checked, Patch, Resource, Result, SetBy, Setup, Silenced, Source
from webhook.report.fragment import difference
from webhook.report.plain import shorten, visible, window
from webhook.report.style import Style
from webhook.report.summary import Summary

COLUMNS: Final = 120
"""Lines of other people's files are cut here."""

CHOICES: Final = 8
"""So many allowed values are listed."""

_LABELS: Final = {
    Outcome.DENY: ("error", "red"),
    Outcome.ERROR: ("error", "red"),
    Outcome.WARN: ("warning", "yellow"),
    Outcome.AUDIT: ("audit", "cyan"),
    Outcome.SKIP: ("skip", "dim"),
    Outcome.PASS: ("pass", "green"),
}


class TextReport:
    """Writes each object's findings as they come, and a line that counts them at the end."""

    def __init__(self, out: TextIO, style: Style, noun: str = "object") -> None:
        """Write to `out`, painted by `style`; `noun` is what was judged."""
        self._out, self._style, self._noun = out, style, noun

    def begin(self, setup: Setup) -> None:
        """Remember what the run works with; faults of policies go to stderr, not here."""
        self._policies = setup.policies

    def add(self, checked: Checked) -> None:
        """Write what there is to say about one object."""
        for result in checked.results:
            self._write(finding_lines(result, self._style))
        for patch in checked.patches:
            self._write(patch_lines(patch, self._style))

    def add_fault(self, fault: DocumentError) -> None:
        """Leave a fault of the input to stderr: it is no result."""

    def end(self, summary: Summary, seconds: float) -> None:
        """Write the line that counts."""
        objects = count(summary.resources, self._noun)
        policies = count(self._policies, "policy", "policies")
        text = f"checked {objects} with {policies} in {seconds:.2f} s: {counts(summary)}"
        looks = ("bold", "red") if summary.resources_denied else ("bold",)
        self._out.write(self._style(text, *looks) + "\n")

    def _write(self, lines: Iterator[str]) -> None:
        text = list(lines)
        self._out.write("\n".join(text) + ("\n\n" if len(text) > 1 else "\n"))


def finding_lines(result: Result, style: Style, label: str = "") -> Iterator[str]:
    """Write one finding; a line that must not be shown, or is not there, is left out. `label` is for its outcome."""
    finding, source = result.finding, result.source
    usual, colour = _LABELS[finding.outcome]
    label = label or usual
    if result.silenced:
        label, colour = f"silenced {label}", "dim"
    elif finding.ignored:
        label = f"ignored {label}"
    first, *more = finding.message.splitlines() or [f"rule {finding.rule} holds"]
    name = style(f"[{visible(finding.policy.name)}]", "dim")
    yield f"{place(source)}: {style(f'{label}:', 'bold', colour)} {style(visible(first), 'bold')} {name}"
    yield from (f"    {visible(line)}" for line in more)
    if finding.outcome in {Outcome.SKIP, Outcome.PASS}:
        return
    gutter = " " * (len(str(source.line)) + 3) if source.excerpt is not None else "    "
    if source.excerpt is not None:
        yield from excerpt_lines(source, gutter, choices(result), style)
    for title, text in _remarks(result):
        for line in text.splitlines():
            yield f"{gutter}{style('=', 'blue')} {title}{visible(line)}"
            title = " " * len(title)


def excerpt_lines(source: Source, gutter: str, hint: str, style: Style) -> Iterator[str]:
    """Show the line of a file that is meant, with carets below the place and a hint behind them."""
    start = max(source.column - 1, 0)
    line, column, width = window(source.excerpt or "", start, start + source.length, COLUMNS)
    bar = style("|", "blue")
    carets = style(("^" * max(width, 1) + " " + hint).rstrip(), "yellow")
    yield f"  {style(str(source.line), 'blue')} {bar} {line}"
    yield f"{gutter}{bar} {' ' * column}{carets}"


def _remarks(result: Result) -> Iterator[tuple[str, str]]:
    finding = result.finding
    if result.asked:
        yield "of: ", _asked(result.asked, result.resource)
    if result.source.excerpt is None:
        if finding.field:
            yield "at: ", path.render(finding.field)
        if hint := choices(result):
            yield "", hint
    if result.silenced:
        yield f"silenced by {silencer_words(result.silenced)}: ", result.silenced.reason
    if result.set_by:
        yield "set by: ", manager_words(result.set_by)
    if finding.why:
        yield "why: ", finding.why
    if words := fix_words(finding):
        yield "fix: ", words + (" (--fix does it)" if result.fixable else "")
    if finding.policy.docs:
        yield "docs: ", finding.policy.docs


def _asked(asked: Asked, resource: Resource) -> str:
    """Say who asked for what, how often, and what the answer was."""
    user = f" by {asked.user}" if asked.user else ""
    times = f", {asked.times} times" if asked.times > 1 else ""
    answers = {True: ", allowed then", False: ", refused then", None: ""}
    return f"{asked.operation} {resource}{user}{times}{answers[asked.allowed]}"


def fix_words(finding: Finding) -> str:
    """Say the way out: in the policy's words, else operation by operation; "" if there is none."""
    return finding.fix.text or "; ".join(map(operation_words, finding.fix.patch))


def silencer_words(silenced: Silenced) -> str:
    """Say what silences a finding, and of an exception whose it is and when it ends."""
    if not (exception := silenced.exception):
        return silenced.by
    return visible(f"exception `{exception.name}` of {exception.owner}, until {exception.until}")


def manager_words(one: SetBy) -> str:
    """Say who has set a field, and when: a person, as it seems, or a program."""
    hand = {True: ", by hand", False: ", a controller", None: ""}[one.by_hand]
    return f"{visible(one.manager)}{hand}, {one.time}"


def choices(result: Result) -> str:
    """Say what is allowed, and which of it is near to what stands there."""
    finding = result.finding
    shown = ", ".join(visible(scalar(value)) for value in finding.allowed[:CHOICES])
    if len(finding.allowed) > CHOICES:
        shown += f" and {len(finding.allowed) - CHOICES} more"
    if finding.suggestion is None:
        return f"allowed: {shown}" if shown else ""
    return f"did you mean `{visible(scalar(finding.suggestion))}`?" + (f" ({shown})" if shown else "")


def operation_words(operation: dict[str, Any]) -> str:
    """Say one JSON Patch operation in words."""
    where = operation["path"]
    if operation["op"] == "remove":
        return f"remove `{where}`"
    if "from" in operation:
        return f"{operation['op']} `{operation['from']}` to `{where}`"
    return f"set `{where}` to `{shorten(scalar(operation.get('value')), COLUMNS)}`"


def patch_lines(patch: Patch, style: Style, label: str = "patch") -> Iterator[str]:
    """Write what a mutation changes, as a diff of the YAML below its reason."""
    name = style(f"[{visible(patch.change.policy.name)}]", "dim")
    message = visible(" ".join(patch.change.message.split())) or "changed"
    yield f"{place(patch.source)}: {style(f'{label}:', 'bold', 'cyan')} {style(message, 'bold')} {name}"
    if patch.asked:
        yield f"    {style('=', 'blue')} of: {visible(_asked(patch.asked, patch.resource))}"
    for line in difference(patch.edits):
        colour = {"+": ("green",), "-": ("red",)}.get(line[0], ())
        yield "  " + style(shorten(visible(line), COLUMNS), *colour)


def place(source: Source) -> str:
    """Write where: `file:line:column`, as editors and terminals open it."""
    return f"{visible(source.file)}:{source.line}:{source.column}" if source.line else visible(source.file)


def counts(summary: Summary) -> str:
    """Say the counts that are not nothing; denials always."""
    outcomes = summary.outcomes
    parts = [f"{summary.resources_denied} denied"]
    if summary.fixed:
        parts.append(f"{summary.fixed} fixed")
    if summary.resources_patched:
        parts.append(f"{summary.resources_patched} patched")
    parts += [
        count(number, word)
        for number, word in (
            (outcomes[Outcome.WARN], "warning"),
            (outcomes[Outcome.AUDIT], "audit finding"),
            (summary.faults, "fault"),
        )
        if number
    ]
    parts += [
        f"{number} {words}"
        for number, words in (
            (outcomes[Outcome.SKIP], "not checked"),
            (summary.silenced, "silenced"),
            (outcomes[Outcome.PASS], "passed"),
        )
        if number
    ]
    return ", ".join(parts)


def count(number: int, one: str, many: str = "") -> str:
    """Write a number with its noun: `1 object`, `2 objects`."""
    return f"{number} {one if number == 1 else many or one + 's'}"
