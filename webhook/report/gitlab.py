"""`-o gitlab`: a code quality report, which GitLab shows in a merge request.

https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any, Final, TextIO

from webhook.errors import DocumentError
from webhook.model.policy import Severity
from webhook.model.result import Checked, Result, Setup
from webhook.report.finding import Weight, file_path, fingerprint, message, weight
from webhook.report.lines import Lines
from webhook.report.plain import visible
from webhook.report.summary import Summary
from webhook.report.text import choices

_REFUSED: Final = {
    Severity.CRITICAL: "blocker",
    Severity.HIGH: "critical",
    Severity.MEDIUM: "major",
    Severity.LOW: "minor",
}
_WARNED: Final = {
    Severity.CRITICAL: "major",
    Severity.HIGH: "major",
    Severity.MEDIUM: "minor",
    Severity.LOW: "info",
}


class GitlabReport:
    """Collects a list of issues; what is silenced or passes is none."""

    def __init__(self, out: TextIO) -> None:
        """Write to `out`."""
        self._out = out
        self._issues = Lines()
        self._seen: Counter[str] = Counter()

    def begin(self, setup: Setup) -> None:
        """Take the policies that cannot be used."""
        for error in setup.policy_errors:
            self._fault("policy-error", error)

    def add(self, checked: Checked) -> None:
        """Take one object's findings."""
        for result in checked.results:
            if severity := _severity(result):
                self._issues.add(_issue(result, severity, self._once(fingerprint(result, result.source.file))))

    def add_fault(self, fault: DocumentError) -> None:
        """Take one fault of the input."""
        self._fault("input-error", fault)

    def end(self, summary: Summary, seconds: float) -> None:  # noqa: ARG002 - GitLab does the counting
        """Write the list."""
        self._out.write("[")
        self._issues.copy_to(self._out)
        self._out.write("]\n")

    def _fault(self, name: str, fault: DocumentError) -> None:
        said = f"{fault.path}: {fault.message}" if fault.path else fault.message
        known = hashlib.sha256(f"{name}\0{fault.file}\0{said}".encode(errors="surrogateescape")).hexdigest()
        self._issues.add(_entry(name, visible(said), self._once(known), "blocker", fault.file, fault.line))

    def _once(self, known: str) -> str:
        """Make a fingerprint the only one of its kind: of equal ones GitLab shows the first."""
        self._seen[known] += 1
        number = self._seen[known]
        return known if number == 1 else hashlib.sha256(f"{known}{number}".encode()).hexdigest()


def _severity(result: Result) -> str:
    severity = result.finding.policy.severity
    match weight(result):
        case Weight.FAILURE | Weight.ERROR:
            return _REFUSED[severity]
        case Weight.WARNING:
            return _WARNED[severity]
        case Weight.NOTE | Weight.SKIPPED:
            return "info"
    return ""


def _issue(result: Result, severity: str, known: str) -> dict[str, Any]:
    said = "; ".join(filter(None, (message(result), choices(result))))
    text = f"{result.resource}: {said}"
    return _entry(result.finding.policy.name, text, known, severity, result.source.file, result.source.line)


def _entry(name: str, text: str, known: str, severity: str, file: str, line: int) -> dict[str, Any]:
    return {
        "description": text,
        "check_name": name,
        "fingerprint": known,
        "severity": severity,
        "location": {"path": file_path(file), "lines": {"begin": max(line, 1)}},
    }
