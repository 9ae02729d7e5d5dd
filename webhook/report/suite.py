"""Results of policy tests, for people: one line a suite, and each failed case with what differs."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any, TextIO

from webhook.model.fragment import block
from webhook.model.suite import CaseResult, Difference, SuiteResult
from webhook.report.plain import visible
from webhook.report.style import Style
from webhook.report.summary import ExitCode
from webhook.report.text import count


class SuiteReport:
    """Writes suites as they come and counts their cases."""

    def __init__(self, out: TextIO, style: Style) -> None:
        """Write to `out`, painted by `style`."""
        self._out = out
        self._style = style
        self._suites = self._passed = self._failed = self._faults = 0

    def add(self, result: SuiteResult) -> None:
        """Write one suite: a line, and its failed cases."""
        failed = [case for case in result.results if case.differences]
        self._suites += 1
        self._failed += len(failed)
        self._passed += len(result.results) - len(failed)
        self._faults += len(result.errors)
        bad = bool(failed or result.errors)
        verdict = self._style("FAIL", "bold", "red") if bad else self._style("ok", "green")
        cases = count(len(result.results), "case")
        self._write(f"{verdict:<4} {visible(result.suite.file)} ({cases})")
        for case in failed:
            for line in case_lines(case, self._style):
                self._write(line)

    def end(self, faults: int, seconds: float) -> ExitCode:
        """Write the line that counts, and judge; `faults` is how many suites cannot be used."""
        cases, suites = count(self._passed + self._failed, "case"), count(self._suites, "suite")
        faults += self._faults
        parts = [f"{self._passed} passed", f"{self._failed} failed"]
        parts += [count(faults, "fault")] if faults else []
        looks = ("bold", "red") if self._failed or faults else ("bold",)
        text = f"tested {cases} of {suites} in {seconds:.2f} s: {', '.join(parts)}"
        self._write(self._style(text, *looks))
        if faults:
            return ExitCode.FAULTY
        return ExitCode.DENIED if self._failed else ExitCode.OK

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
