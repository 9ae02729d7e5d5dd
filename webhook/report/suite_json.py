"""`test -o json`: one document, version 1."""

from __future__ import annotations

import json
from typing import Any, Final, TextIO

from webhook.errors import DocumentError
from webhook.model.suite import CaseResult, SuiteResult
from webhook.report.json import policy_error_entry
from webhook.report.lines import Lines
from webhook.report.suite import SuiteSummary
from webhook.report.summary import ExitCode

VERSION: Final = 1


class JsonSuites:
    """Writes the document at the end, as its counts stand before what they count."""

    def __init__(self, out: TextIO) -> None:
        """Write to `out`."""
        self._out = out
        self._suites = Lines()
        self._summary = SuiteSummary()
        self._sections: dict[str, Any] = {}

    def add_section(self, name: str, section: dict[str, Any]) -> None:
        """Take what else was measured: `coverage` or `mutants`."""
        self._sections[name] = section

    def add(self, result: SuiteResult) -> None:
        """Take one suite."""
        self._summary.add(result)
        cases = [_case(case) for case in result.results]
        errors = [policy_error_entry(error) for error in result.errors]
        self._suites.add({"file": result.suite.file, "cases": cases, "policyErrors": errors})

    def end(self, faults: tuple[DocumentError, ...], seconds: float) -> ExitCode:  # noqa: ARG002 - no time, so that runs can be compared
        """Write the document, with the suites that cannot be used, and judge."""
        summary = json.dumps(self._summary.entry(len(faults)))
        self._out.write(f'{{"version": {VERSION}, "summary": {summary},\n "suites": [')
        self._suites.copy_to(self._out)
        self._out.write(f'],\n "errors": {json.dumps([policy_error_entry(error) for error in faults])}')
        for name, section in self._sections.items():
            self._out.write(f',\n "{name}": {json.dumps(section, ensure_ascii=False)}')
        self._out.write("}\n")
        return self._summary.exit_code(len(faults))


def _case(result: CaseResult) -> dict[str, Any]:
    at = result.case.location
    differences = [{"what": each.what, "want": each.want, "got": each.got} for each in result.differences]
    return {
        "name": result.case.name,
        "line": at.line,
        "column": at.column,
        "passed": not differences,
        "differences": differences,
    }
