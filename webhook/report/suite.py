"""Results of policy tests, for people: one line a suite, and each failed case with what differs."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any, Protocol, TextIO

from webhook.errors import DocumentError
from webhook.model.fragment import block
from webhook.model.suite import CaseResult, Difference, SuiteResult
from webhook.report.plain import visible
from webhook.report.style import Style
from webhook.report.summary import ExitCode
from webhook.report.text import count


class SuiteSummary:
    """Adds up as suites come in."""

    def __init__(self) -> None:
        """Start at nothing."""
        self._suites = self._passed = self._failed = self._faults = 0

    def add(self, result: SuiteResult) -> None:
        """Count one suite, its cases, and the faults of its policies."""
        failed = sum(bool(case.differences) for case in result.results)
        self._suites += 1
        self._failed += failed
        self._passed += len(result.results) - failed
        self._faults += len(result.errors)

    def entry(self, faults: int) -> dict[str, int]:
        """Give the counts for machines; `faults` is how many suites cannot be used."""
        return {
            "suites": self._suites,
            "cases": self._passed + self._failed,
            "passed": self._passed,
            "failed": self._failed,
            "faults": self._faults + faults,
        }

    def words(self, faults: int, seconds: float) -> str:
        """Give the line that counts."""
        cases, suites = count(self._passed + self._failed, "case"), count(self._suites, "suite")
        parts = [f"{self._passed} passed", f"{self._failed} failed"]
        parts += [count(self._faults + faults, "fault")] if self._faults + faults else []
        return f"tested {cases} of {suites} in {seconds:.2f} s: {', '.join(parts)}"

    def exit_code(self, faults: int) -> ExitCode:
        """Judge the whole run."""
        if self._faults + faults:
            return ExitCode.FAULTY
        return ExitCode.DENIED if self._failed else ExitCode.OK


class SuitesReport(Protocol):
    """What every format of policy tests does, in this order."""

    def add(self, result: SuiteResult) -> None:
        """Take one suite."""

    def end(self, faults: tuple[DocumentError, ...], seconds: float) -> ExitCode:
        """Take the suites that cannot be used, be done, and judge."""


class SuiteReport:
    """Writes suites as they come and counts their cases."""

    def __init__(self, out: TextIO, style: Style) -> None:
        """Write to `out`, painted by `style`."""
        self._out = out
        self._style = style
        self._summary = SuiteSummary()

    def add(self, result: SuiteResult) -> None:
        """Write one suite: a line, and its failed cases."""
        self._summary.add(result)
        failed = [case for case in result.results if case.differences]
        bad = bool(failed or result.errors)
        verdict = self._style("FAIL", "bold", "red") if bad else self._style("ok", "green")
        cases = count(len(result.results), "case")
        self._write(f"{verdict:<4} {visible(result.suite.file)} ({cases})")
        for case in failed:
            for line in case_lines(case, self._style):
                self._write(line)

    def end(self, faults: tuple[DocumentError, ...], seconds: float) -> ExitCode:
        """Write the line that counts, and judge; the faults themselves are told on standard error."""
        code = self._summary.exit_code(len(faults))
        self._write(self._style(self._summary.words(len(faults), seconds), *(("bold", "red") if code else ("bold",))))
        return code

    def _write(self, line: str) -> None:
        self._out.write(line + "\n")


def case_lines(result: CaseResult, style: Style) -> Iterator[str]:
    """Write a failed case: where it is written, and each difference."""
    at = result.case.location
    yield f"  {visible(at.file)}:{at.line}:{at.column}: {style(visible(result.case.name), 'bold')}"
    for difference in result.differences:
        yield from (f"    {line}" for line in difference_lines(difference, style))


def difference_lines(difference: Difference, style: Style) -> Iterator[str]:
    """Write one difference: short values on a line each, long ones as a diff of their YAML."""
    what = visible(difference.what)
    want, got = _lines(difference.want), _lines(difference.got)
    if isinstance(difference.want, dict | list) and isinstance(difference.got, dict | list):
        yield f"{what}: {style('- wanted', 'red')} {style('+ got', 'green')}"
        for line in difflib.unified_diff(want, got, n=3, lineterm=""):
            if not line.startswith(("---", "+++", "@@")):
                yield "  " + style(visible(line), *{"-": ("red",), "+": ("green",)}.get(line[0], ()))
        return
    for word, lines in (("want", want), ("got", got)):
        first, *rest = lines
        lead = f"{what}: {word}"
        yield f"{lead:<{len(what) + 7}}{visible(first)}"
        yield from (" " * (len(what) + 7) + visible(line) for line in rest)


def _lines(value: Any) -> list[str]:
    if value is None:
        return ["nothing"]
    if isinstance(value, str):
        return value.splitlines() or ['""']
    return list(block(value))
