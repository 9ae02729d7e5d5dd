"""`-o tap`: the Test Anything Protocol, version 14. https://testanything.org/tap-version-14-specification.html"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TextIO

from webhook.errors import DocumentError
from webhook.model import path
from webhook.model.fragment import block
from webhook.model.result import Checked, Result, Setup
from webhook.report.finding import Weight, file_path, message, weight
from webhook.report.plain import visible
from webhook.report.summary import Summary
from webhook.report.text import fix_words


class TapReport:
    """Writes a test point a finding, one for each object without any, and the plan at the end."""

    def __init__(self, out: TextIO) -> None:
        """Write to `out`."""
        self._out = out
        self._number = 0

    def begin(self, setup: Setup) -> None:
        """Write the version, and the policies that cannot be used."""
        self._out.write("TAP version 14\n")
        for error in setup.policy_errors:
            self._fault(error, "policy error")

    def add(self, checked: Checked) -> None:
        """Write the points of one object."""
        for result in checked.results:
            self._point(result)
        if not checked.results:
            self._write("ok", str(checked.resource))

    def add_fault(self, fault: DocumentError) -> None:
        """Write one fault of the input."""
        self._fault(fault, "input error")

    def end(self, summary: Summary, seconds: float) -> None:  # noqa: ARG002 - whoever reads it counts
        """Write the plan."""
        self._out.write(f"1..{self._number}\n")

    def _point(self, result: Result) -> None:
        kind, name = weight(result), f"{result.resource}: {result.finding.policy.name}/{result.finding.rule}"
        verdict = "not ok" if kind in (Weight.FAILURE, Weight.ERROR) else "ok"
        directive = f"SKIP {message(result)}" if kind is Weight.SKIPPED else ""
        quiet = kind in (Weight.PASSED, Weight.SKIPPED)
        self._write(verdict, name, directive, {} if quiet else dict(_diagnostic(result)))

    def _fault(self, fault: DocumentError, name: str) -> None:
        at = {"file": file_path(fault.file), "line": fault.line, "column": fault.column}
        said = f"{fault.path}: {fault.message}" if fault.path else fault.message
        self._write("not ok", f"{name}: {fault.file}", "", {"message": said, "severity": "fail", "at": at})

    def _write(self, verdict: str, name: str, directive: str = "", diagnostic: dict[str, Any] | None = None) -> None:
        self._number += 1
        ending = f" # {_escape(directive)}" if directive else ""
        self._out.write(f"{verdict} {self._number} - {_escape(name)}{ending}\n")
        if diagnostic:
            lines = "".join(f"  {visible(line)}\n" for line in block(diagnostic))
            self._out.write(f"  ---\n{lines}  ...\n")


def _diagnostic(result: Result) -> Iterator[tuple[str, Any]]:
    finding, source = result.finding, result.source
    yield "message", finding.message
    yield "severity", "fail" if weight(result) in (Weight.FAILURE, Weight.ERROR) else "comment"
    yield "outcome", finding.outcome.value
    yield "field", path.render(finding.field)
    yield "at", {"file": file_path(source.file), "line": source.line, "column": source.column}
    if finding.why:
        yield "why", finding.why
    if words := fix_words(finding):
        yield "fix", words
    if result.silenced:
        yield "silenced", {"by": result.silenced.by, "reason": result.silenced.reason}


def _escape(text: str) -> str:
    r"""Keep a description on its line, and from ending early: `#` begins a directive, `\` an escape."""
    return visible(text).replace("\\", "\\\\").replace("#", "\\#")
