"""`-o sarif`: SARIF 2.1.0, which code scanning services and editors read.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/sarif-v2.1.0-errata01-os-complete.html, with what GitHub
reads besides (`security-severity`). Patches are no results: they say what the cluster does by itself.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Final, TextIO
from urllib.parse import quote

import webhook
from webhook.errors import DocumentError
from webhook.model import path
from webhook.model.policy import Policy, Severity
from webhook.model.result import Checked, Replacement, Result, Setup, Silenced, Source
from webhook.report.finding import Weight, file_path, fingerprint, message, own_weight, weight
from webhook.report.lines import Lines
from webhook.report.plain import visible
from webhook.report.summary import Summary
from webhook.report.text import choices, fix_words

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
HOME: Final = "https://github.com/cozyguard/cozyguard"

_LEVELS: Final = {Weight.FAILURE: "error", Weight.ERROR: "error", Weight.WARNING: "warning", Weight.NOTE: "note"}
_SCORES: Final = {Severity.CRITICAL: "9.5", Severity.HIGH: "8.0", Severity.MEDIUM: "5.5", Severity.LOW: "2.0"}
"""The middle of the band that GitHub calls by the same name."""


class SarifReport:
    """Writes one run; results wait for its end on disk, as do the rules that they name."""

    def __init__(self, out: TextIO) -> None:
        """Write to `out`."""
        self._out = out
        self._results = Lines()
        self._notices = Lines()
        self._rules: dict[str, Policy] = {}

    def begin(self, setup: Setup) -> None:
        """Keep what the run works with."""
        self._setup = setup

    def add(self, checked: Checked) -> None:
        """Take one object's findings; what could not be checked is a notice of the tool, no result."""
        for result in checked.results:
            self._rules.setdefault(result.finding.policy.name, result.finding.policy)
            if weight(result) is Weight.SKIPPED:
                self._notices.add(_skipped(result))
            else:
                self._results.add(_result(result))

    def add_fault(self, fault: DocumentError) -> None:
        """Take one fault of the input."""
        self._notices.add(notification(fault))

    def end(self, summary: Summary, seconds: float) -> None:  # noqa: ARG002 - the document tells no time, so that runs can be compared
        """Write the document."""
        driver = {
            "name": "cozyguard",
            "version": webhook.__version__,
            "informationUri": HOME,
            "rules": [_rule(self._rules[name]) for name in sorted(self._rules)],
        }
        faults = json.dumps([notification(error) for error in self._setup.policy_errors])
        self._out.write(
            f'{{"$schema": "{SCHEMA}", "version": "2.1.0", "runs": [{{"tool": {{"driver": {json.dumps(driver)}}},\n'
            f' "columnKind": "unicodeCodePoints", "properties": {{"release": {json.dumps(self._setup.release)}}},\n'
            f' "invocations": [{{"executionSuccessful": {json.dumps(not summary.faults)},\n'
            f'  "toolConfigurationNotifications": {faults},\n  "toolExecutionNotifications": ['
        )
        self._notices.copy_to(self._out)
        self._out.write(']}],\n "results": [')
        self._results.copy_to(self._out)
        self._out.write("]}]}\n")


def _rule(policy: Policy) -> dict[str, Any]:
    title, why = policy.title or policy.name, policy.why.literal
    helps = [title, why, policy.docs]
    entry: dict[str, Any] = {
        "id": policy.name,
        "shortDescription": {"text": title},
        "fullDescription": {"text": why or title},
        "help": {"text": "\n\n".join(filter(None, helps))},
        "defaultConfiguration": {"level": "error"},
        "properties": {
            "tags": ["kubernetes", *filter(None, [policy.category])],
            "security-severity": _SCORES[policy.severity],
            "precision": "very-high",
        },
    }
    return entry | ({"helpUri": policy.docs} if policy.docs else {})


def _result(result: Result) -> dict[str, Any]:
    finding, kind = result.finding, weight(result)
    level = "none" if kind is Weight.PASSED else _LEVELS[own_weight(finding)]
    lines = [message(result), choices(result), f"fix: {words}" if (words := fix_words(finding)) else ""]
    entry: dict[str, Any] = {
        "ruleId": finding.policy.name,
        "kind": "pass" if kind is Weight.PASSED else "fail",
        "level": level,
        "message": {"text": "\n".join(visible(line) for line in lines if line)},
        "locations": [_location(result)],
        "partialFingerprints": {"cozyguard/v1": fingerprint(result)},
        "properties": {
            "rule": finding.rule,
            "outcome": finding.outcome.value,
            "severity": finding.policy.severity.value,
        },
    }
    if result.silenced:
        entry["suppressions"] = [_suppression(result.silenced)]
    if result.replacement:
        entry["fixes"] = [_fix(result, result.replacement)]
    return entry


def _suppression(silenced: Silenced) -> dict[str, Any]:
    kind = "inSource" if silenced.by in ("annotation", "comment") else "external"
    return {"kind": kind, "status": "accepted", "justification": f"{silenced.by}: {silenced.reason}"}


def _fix(result: Result, replacement: Replacement) -> dict[str, Any]:
    region = {
        "startLine": replacement.line,
        "startColumn": replacement.column,
        "endLine": replacement.end_line,
        "endColumn": replacement.end_column,
    }
    change = {"deletedRegion": region, "insertedContent": {"text": replacement.text}}
    return {
        "description": {"text": visible(fix_words(result.finding))},
        "artifactChanges": [{"artifactLocation": {"uri": _uri(result.source.file)}, "replacements": [change]}],
    }


def _location(result: Result) -> dict[str, Any]:
    field = path.render(result.finding.field)
    name = f"{result.resource} {field}".strip()
    logical = {"fullyQualifiedName": name, "kind": "member"} | ({"name": field} if field else {})
    return {"physicalLocation": physical_location(result.source), "logicalLocations": [logical]}


def physical_location(source: Source) -> dict[str, Any]:
    """Write where in a file something is."""
    place: dict[str, Any] = {"artifactLocation": {"uri": _uri(source.file)}}
    if source.line:
        place["region"] = {
            "startLine": source.line,
            "startColumn": max(source.column, 1),
            "endColumn": max(source.column, 1) + source.length,
        }
    return place


def _skipped(result: Result) -> dict[str, Any]:
    return {
        "level": "note",
        "message": {"text": f"{result.resource}: {message(result)}"},
        "associatedRule": {"id": result.finding.policy.name},
        "locations": [_location(result)],
    }


def notification(error: DocumentError) -> dict[str, Any]:
    """Write a fault of a file: a notice of the tool, no result."""
    said = f"{error.path}: {error.message}" if error.path else error.message
    place = physical_location(Source(error.file, 0, error.line, error.column))
    return {"level": "error", "message": {"text": visible(said)}, "locations": [{"physicalLocation": place}]}


def _uri(file: str) -> str:
    """Name a file relative to the folder that the run began in, where it is below it."""
    name = file_path(file)
    return Path(name).as_uri() if name.startswith("/") else quote(os.fsencode(name))
