"""`-o github`: annotations of the lines of a pull request, by the commands that GitHub's runner reads in a log.

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

from typing import Final, TextIO

from webhook.errors import DocumentError
from webhook.model.result import Checked, Result, Setup
from webhook.model.suite import CaseResult, SuiteResult
from webhook.report.finding import Weight, details, file_path, weight
from webhook.report.plain import visible
from webhook.report.style import Style
from webhook.report.suite import SuiteSummary, difference_lines
from webhook.report.summary import ExitCode, Summary
from webhook.report.text import count, counts

_COMMANDS: Final = {
    Weight.FAILURE: "error",
    Weight.ERROR: "error",
    Weight.WARNING: "warning",
    Weight.NOTE: "notice",
    Weight.SKIPPED: "notice",
}


class GithubReport:
    """Writes a command a finding, and the line that counts; what is silenced or passes is no annotation."""

    def __init__(self, out: TextIO) -> None:
        """Write to `out`."""
        self._out = out

    def begin(self, setup: Setup) -> None:
        """Annotate the policies that cannot be used."""
        for error in setup.policy_errors:
            self._fault(error, "policy error")

    def add(self, checked: Checked) -> None:
        """Annotate the findings of one object."""
        for result in checked.results:
            if name := _COMMANDS.get(weight(result)):
                self._out.write(_finding(name, result))

    def add_fault(self, fault: DocumentError) -> None:
        """Annotate one fault of the input."""
        self._fault(fault, "input error")

    def end(self, summary: Summary, seconds: float) -> None:
        """Write the line that counts: it is for whoever reads the log."""
        self._out.write(f"checked {count(summary.resources, 'object')} in {seconds:.2f} s: {counts(summary)}\n")

    def _fault(self, fault: DocumentError, title: str) -> None:
        self._out.write(fault_command(fault, title))


class GithubSuites:
    """Writes a command for each failed case of the policy tests."""

    def __init__(self, out: TextIO) -> None:
        """Write to `out`."""
        self._out = out
        self._summary = SuiteSummary()

    def add(self, result: SuiteResult) -> None:
        """Annotate what failed in one suite."""
        self._summary.add(result)
        for error in result.errors:
            self._out.write(fault_command(error, "policy error"))
        for case in result.results:
            if case.differences:
                self._out.write(_case(case))

    def end(self, faults: tuple[DocumentError, ...], seconds: float) -> ExitCode:
        """Annotate the suites that cannot be used, and count."""
        for error in faults:
            self._out.write(fault_command(error, "error"))
        self._out.write(self._summary.words(len(faults), seconds) + "\n")
        return self._summary.exit_code(len(faults))


def _finding(name: str, result: Result) -> str:
    source = result.source
    title = f"{result.finding.policy.name}: {result.resource}"
    end = source.column + source.length
    return command(name, source.file, (source.line, source.column, end), title, details(result))


def _case(result: CaseResult) -> str:
    at = result.case.location
    said = "\n".join(line for each in result.differences for line in difference_lines(each, Style()))
    return command("error", at.file, (at.line, at.column, 0), result.case.name, said)


def fault_command(fault: DocumentError, title: str) -> str:
    """Write a fault of a file as an error."""
    said = f"{fault.path}: {fault.message}" if fault.path else fault.message
    return command(
        "error", fault.file, (fault.line, fault.column, 0), title, "\n".join(map(visible, said.splitlines()))
    )


def command(name: str, file: str, place: tuple[int, int, int], title: str, message: str) -> str:
    """Write one command; `place` is the line, the column and the column behind, each 0 where it is not known."""
    line, column, end = place
    properties = {
        "file": visible(file_path(file)),
        "line": line,
        "col": column,
        "endColumn": end,
        "title": visible(title),
    }
    shown = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items() if value)
    return f"::{name} {shown}::{_data(message)}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
