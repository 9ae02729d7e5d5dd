"""What an upgrade changes: for people as it comes, for machines as one document."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, Protocol, TextIO

from webhook.errors import DocumentError
from webhook.model.path import render
from webhook.model.preview import Difference, Previewed, Turn
from webhook.model.result import Result, Setup
from webhook.report.json import fault_entry, patch_entry, policy_error_entry, result_entry
from webhook.report.plain import visible
from webhook.report.style import Style
from webhook.report.summary import ExitCode
from webhook.report.text import count, finding_lines, patch_lines, place

VERSION: Final = 1

FAIL_ON: Final[Mapping[str, Turn]] = {"warn": Turn.WARNED, "skip": Turn.NOT_CHECKED}
"""What the words of `--fail-on` mean where differences are told."""

_WORDS: Final[Mapping[Turn, str]] = {
    Turn.DENIED: "newly denied",
    Turn.WARNED: "newly warned",
    Turn.NOT_CHECKED: "not checked",
    Turn.ALLOWED: "newly allowed",
    Turn.SETTLED: "no longer warned",
    Turn.PATCHED: "newly patched",
}


class Counts:
    """Adds up what changes, and judges the run."""

    def __init__(self) -> None:
        """Start at nothing."""
        self.resources = self.faults = 0
        self.turns: Counter[Turn] = Counter()

    def add(self, previewed: Previewed) -> None:
        """Count one object and what changes for it."""
        self.resources += 1
        self.turns.update(difference.turn for difference in previewed.differences)

    def exit_code(self, fail_on: Collection[Turn] = ()) -> ExitCode:
        """Judge: new denials count, and whatever `fail_on` names; faults win."""
        if self.faults:
            return ExitCode.FAULTY
        return ExitCode.DENIED if any(self.turns[turn] for turn in (Turn.DENIED, *fail_on)) else ExitCode.OK


class PreviewReport(Protocol):
    """What both formats do, in this order."""

    def add(self, previewed: Previewed) -> None:
        """Take one object."""

    def add_fault(self, fault: DocumentError) -> None:
        """Take one fault of the input."""

    def end(self, counts: Counts, seconds: float) -> None:
        """Take the counts, and be done."""


class TextPreview:
    """Writes the differences of each object as they come, and a line that counts them."""

    def __init__(self, out: TextIO, style: Style, before: Setup, after: Setup, noun: str = "object") -> None:
        """Write to `out`, painted by `style`; `noun` is what was judged."""
        self._out, self._style, self._noun = out, style, noun
        self._before, self._after = before, after

    def add(self, previewed: Previewed) -> None:
        """Write what changes for one object."""
        for difference in previewed.differences:
            lines = [*self._lines(difference)]
            self._out.write("\n".join(lines) + ("\n\n" if len(lines) > 1 else "\n"))

    def add_fault(self, fault: DocumentError) -> None:
        """Leave a fault of the input to stderr: it is no result."""

    def end(self, counts: Counts, seconds: float) -> None:
        """Write the line that counts."""
        objects, policies = count(counts.resources, self._noun), count(self._after.policies, "policy", "policies")
        found = ", ".join(f"{counts.turns[turn]} {words}" for turn, words in _WORDS.items() if counts.turns[turn])
        way = f"from {self._before.release} to {self._after.release}"
        text = f"{way}, checked {objects} with {policies} in {seconds:.2f} s: {found or 'nothing changes'}"
        self._out.write(self._style(text, *(("bold", "red") if counts.turns[Turn.DENIED] else ("bold",))) + "\n")

    def _lines(self, difference: Difference) -> Iterator[str]:
        label, about = _WORDS[difference.turn], difference.about
        if not isinstance(about, Result):
            yield from patch_lines(about, self._style, label)
        elif difference.turn in (Turn.ALLOWED, Turn.SETTLED):
            yield from self._gone(about, label)
        else:
            yield from finding_lines(about, self._style, "" if difference.turn is Turn.NOT_CHECKED else label)

    def _gone(self, result: Result, label: str) -> Iterator[str]:
        """Say where, and what was found until now."""
        where = render(result.finding.field) or str(result.resource)
        name = self._style(f"[{visible(result.finding.policy.name)}]", "dim")
        head = f"{self._style(f'{label}:', 'bold', 'green')} {self._style(visible(where), 'bold')}"
        yield f"{place(result.source)}: {head} {name}"
        gutter = f"    {self._style('=', 'blue')} {self._before.release}: "
        for line in result.finding.message.splitlines():
            yield gutter + visible(line)
            gutter = " " * len(f"    = {self._before.release}: ")


class JsonPreview:
    """Writes one document at the end, a list for each kind of difference."""

    def __init__(self, out: TextIO, before: Setup, after: Setup) -> None:
        """Write to `out`."""
        self._out, self._before, self._after = out, before, after
        self._entries: dict[Turn, list[dict[str, Any]]] = {turn: [] for turn in Turn}
        self._faults: list[dict[str, Any]] = []

    def add(self, previewed: Previewed) -> None:
        """Take one object's entries."""
        for difference in previewed.differences:
            about = difference.about
            entry = result_entry(about) if isinstance(about, Result) else patch_entry(about)
            self._entries[difference.turn].append(entry)

    def add_fault(self, fault: DocumentError) -> None:
        """Take one fault of the input."""
        self._faults.append(fault_entry(fault))

    def end(self, counts: Counts, seconds: float) -> None:  # noqa: ARG002 - the document tells no time, so that runs can be compared
        """Write the document."""
        document = {
            "version": VERSION,
            "from": self._before.release,
            "to": self._after.release,
            "policies": self._after.policies,
            "summary": {"resources": counts.resources} | {turn.value: counts.turns[turn] for turn in Turn},
            **{turn.value: entries for turn, entries in self._entries.items()},
            "policyErrors": [policy_error_entry(error) for error in self._after.policy_errors],
            "inputErrors": self._faults,
        }
        json.dump(document, self._out, indent=1)
        self._out.write("\n")
