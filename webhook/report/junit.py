"""`-o junit`: test reports as Jenkins and GitLab read them.

A finding is a test case, and so is an object without any: `failure` for what is refused, `error` for a rule that could
not be evaluated and for files that cannot be read, `skipped` for what could not be checked. The rest passes.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final, TextIO

from webhook.errors import DocumentError
from webhook.model.result import Checked, Result, Setup
from webhook.model.suite import CaseResult, SuiteResult
from webhook.report.finding import Weight, details, file_path, message, weight
from webhook.report.style import Style
from webhook.report.suite import SuiteSummary, difference_lines
from webhook.report.summary import ExitCode, Summary

_ILLEGAL: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, not even escaped."""

_ELEMENTS: Final = {Weight.FAILURE: "failure", Weight.ERROR: "error", Weight.SKIPPED: "skipped"}
_TOLD: Final = {Weight.WARNING, Weight.NOTE, Weight.SILENCED}


class _Suites:
    """Writes `testsuites`, each suite as soon as it is complete: its counts stand before its cases."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._name = ""
        self._cases: list[str] = []
        self._counts: Counter[str] = Counter()
        out.write('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="cozyguard">\n')

    def suite(self, name: str) -> None:
        """Go on with the cases of this suite."""
        if name != self._name:
            self.flush()
            self._name = name

    def case(
        self, group: str, name: str, place: tuple[str, int], element: str = "", said: tuple[str, str] = ("", "")
    ) -> None:
        """Add a case; `element` is how it failed, `said` the message and the whole text."""
        file, line = place
        at = (f" file={_attribute(file_path(file))}" if file else "") + (f' line="{line}"' if line else "")
        head = f"    <testcase classname={_attribute(group)} name={_attribute(name)}{at}"
        self._counts[element] += 1
        if element == "skipped":
            body = f"      <skipped message={_attribute(said[0])}/>\n"
        elif element:
            body = f"      <{element} message={_attribute(said[0])}>{_text(said[1])}</{element}>\n"
        else:
            body = f"      <system-out>{_text(said[1])}</system-out>\n" if said[1] else ""
        self._cases.append(f"{head}>\n{body}    </testcase>\n" if body else f"{head}/>\n")

    def flush(self) -> None:
        """Write the suite that is open."""
        if not self._cases:
            return
        numbers = {"tests": len(self._cases)}
        numbers |= {f"{name}s".replace("skippeds", "skipped"): self._counts[name] for name in _ELEMENTS.values()}
        shown = " ".join(f'{name}="{number}"' for name, number in numbers.items())
        self._out.write(f"  <testsuite name={_attribute(self._name)} {shown}>\n")
        self._out.writelines(self._cases)
        self._out.write("  </testsuite>\n")
        self._cases.clear()
        self._counts.clear()

    def end(self) -> None:
        """Close the document."""
        self.flush()
        self._out.write("</testsuites>\n")


class JunitReport:
    """A suite a file, for `check`."""

    def __init__(self, out: TextIO) -> None:
        """Write to `out`."""
        self._suites = _Suites(out)

    def begin(self, setup: Setup) -> None:
        """Take the policies that cannot be used."""
        for error in setup.policy_errors:
            self._fault(error, "policy error")

    def add(self, checked: Checked) -> None:
        """Take one object."""
        self._suites.suite(file_path(checked.file) or "the cluster")
        for result in checked.results:
            self._case(result)
        if not checked.results:
            self._suites.case(str(checked.resource), "all policies", (checked.file, 0))

    def add_fault(self, fault: DocumentError) -> None:
        """Take one fault of the input."""
        self._fault(fault, "input error")

    def end(self, summary: Summary, seconds: float) -> None:  # noqa: ARG002 - whoever reads it counts, and no time makes runs comparable
        """Close the document."""
        self._suites.end()

    def _case(self, result: Result) -> None:
        kind, finding = weight(result), result.finding
        said = (message(result), details(result) if kind in _TOLD or kind in _ELEMENTS else "")
        if result.silenced:
            said = (said[0], f"silenced by {result.silenced.by}: {result.silenced.reason}\n{said[1]}")
        place = (result.source.file, result.source.line)
        name = f"{finding.policy.name}/{finding.rule}"
        self._suites.case(str(result.resource), name, place, _ELEMENTS.get(kind, ""), said)

    def _fault(self, fault: DocumentError, name: str) -> None:
        self._suites.suite(file_path(fault.file))
        said = (fault.message, str(fault))
        self._suites.case(fault.file, name, (fault.file, fault.line), "error", said)


class JunitSuites:
    """A suite a PolicyTest, for `test`."""

    def __init__(self, out: TextIO) -> None:
        """Write to `out`."""
        self._suites = _Suites(out)
        self._summary = SuiteSummary()

    def add(self, result: SuiteResult) -> None:
        """Take one suite."""
        self._summary.add(result)
        self._suites.suite(result.suite.file)
        for case in result.results:
            self._case(result.suite.file, case)
        for error in result.errors:
            self._suites.case(
                error.file, "policy error", (error.file, error.line), "error", (error.message, str(error))
            )

    def end(self, faults: tuple[DocumentError, ...], seconds: float) -> ExitCode:  # noqa: ARG002 - as above
        """Take the suites that cannot be used, and close the document."""
        for error in faults:
            self._suites.suite(error.file)
            self._suites.case(error.file, "error", (error.file, error.line), "error", (error.message, str(error)))
        self._suites.end()
        return self._summary.exit_code(len(faults))

    def _case(self, file: str, result: CaseResult) -> None:
        place = (result.case.location.file, result.case.location.line)
        if not result.differences:
            self._suites.case(file, result.case.name, place)
            return
        told = "\n".join(line for each in result.differences for line in difference_lines(each, Style()))
        differ = ", ".join(each.what for each in result.differences)
        self._suites.case(file, result.case.name, place, "failure", (f"not as expected: {differ}", told))


def _legal(text: str) -> str:
    return _ILLEGAL.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode("ascii"), text)


def _text(text: str) -> str:
    return _legal(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\r", "&#13;")


def _attribute(text: str) -> str:
    return '"' + _text(text).replace('"', "&quot;").replace("\n", "&#10;").replace("\t", "&#9;") + '"'
