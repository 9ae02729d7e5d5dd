"""`-o json`: one document, version 1. Other tools read it: names and meanings stay, new ones are added."""

from __future__ import annotations

import json
from typing import Any, Final, TextIO

from webhook.errors import DocumentError
from webhook.model import path
from webhook.model.decision import Outcome
from webhook.model.recorded import Asked
from webhook.model.result import Checked, Patch, Resource, Result, SetBy, Setup, Silenced, Source
from webhook.report.lines import Lines
from webhook.report.summary import Summary

VERSION: Final = 1

_COUNTED: Final = (Outcome.DENY, Outcome.WARN, Outcome.AUDIT, Outcome.ERROR, Outcome.SKIP)


class JsonReport:
    """Writes the document at the end, because its counts stand before what they count.

    Until then each entry waits as a line of text, so that memory does not grow with the input.
    """

    def __init__(self, out: TextIO, *, by_policy: bool = False) -> None:
        """Write to `out`; `by_policy` asks for the counts of each policy besides."""
        self._out, self._by_policy = out, by_policy
        self._results = Lines()
        self._patches = Lines()
        self._faults = Lines()

    def begin(self, setup: Setup) -> None:
        """Keep what the run works with."""
        self._setup = setup

    def add(self, checked: Checked) -> None:
        """Take one object's entries."""
        for result in checked.results:
            self._results.add(result_entry(result))
        for patch in checked.patches:
            self._patches.add(patch_entry(patch))

    def add_fault(self, fault: DocumentError) -> None:
        """Take one fault of the input."""
        self._faults.add(fault_entry(fault))

    def end(self, summary: Summary, seconds: float) -> None:  # noqa: ARG002 - the document tells no time, so that runs can be compared
        """Write the document."""
        head = {"version": VERSION, "release": self._setup.release, "policies": self._setup.policies}
        self._out.write(_dump(head)[:-1])
        self._out.write(f', "summary": {_dump(summary_entry(summary))},\n')
        if self._by_policy:
            self._out.write(f' "byPolicy": {_dump(_policies_entry(summary))},\n')
        errors = Lines(map(policy_error_entry, self._setup.policy_errors))
        sections = {
            "results": self._results,
            "patches": self._patches,
            "policyErrors": errors,
            "inputErrors": self._faults,
        }
        for index, (name, lines) in enumerate(sections.items()):
            self._out.write(f"{',' if index else ''}{chr(10) if index else ''} {_dump(name)}: [")
            lines.copy_to(self._out)
            self._out.write("]")
        self._out.write("}\n")


def _dump(value: Any) -> str:
    return json.dumps(value)


def summary_entry(summary: Summary) -> dict[str, int]:
    """Write the counts; `pass`, `silenced` and `fixed` only where there are any."""
    entry = {"resources": summary.resources, "resourcesDenied": summary.resources_denied}
    entry |= {outcome.value: summary.outcomes[outcome] for outcome in _COUNTED}
    entry["patch"] = summary.patches
    if summary.outcomes[Outcome.PASS]:
        entry["pass"] = summary.outcomes[Outcome.PASS]
    if summary.silenced:
        entry["silenced"] = summary.silenced
    if summary.fixed:
        entry["fixed"] = summary.fixed
    return entry


def _policies_entry(summary: Summary) -> dict[str, dict[str, int]]:
    """Write the counts of each policy that has something to say, by outcome."""
    return {
        name: {outcome.value: number for outcome, number in sorted(outcomes.items())}
        for name, outcomes in sorted(summary.by_policy.items())
    }


def result_entry(result: Result) -> dict[str, Any]:
    """Write one finding; `value` is null too where nothing stands at the path."""
    finding, policy = result.finding, result.finding.policy
    entry: dict[str, Any] = {
        "outcome": finding.outcome.value,
        "policy": policy.name,
        "rule": finding.rule,
        "severity": policy.severity.value,
        "reason": finding.reason.value,
        "message": finding.message,
        "field": path.render(finding.field),
        "value": finding.value,
        "allowed": list(finding.allowed),
        "suggestion": finding.suggestion,
        "fix": {"text": finding.fix.text, "patch": list(finding.fix.patch)},
        "why": finding.why,
        "docs": policy.docs,
        "resource": resource_entry(result.resource),
        "source": source_entry(result.source),
    }
    if finding.ignored:
        entry["ignored"] = True
    if result.silenced:
        entry["silenced"] = _silenced_entry(result.silenced)
    if result.asked:
        entry["request"] = _asked_entry(result.asked)
    if result.set_by:
        entry["setBy"] = _set_by_entry(result.set_by)
    return entry


def _asked_entry(one: Asked) -> dict[str, Any]:
    """Write who asked, when first, and how often; `allowed` is null where the recording tells no answer."""
    return {
        "operation": one.operation,
        "user": one.user,
        "time": one.time,
        "allowed": one.allowed,
        "times": one.times,
    }


def _set_by_entry(one: SetBy) -> dict[str, Any]:
    """Write who last set the field; `byHand` is null where the manager's name does not tell."""
    return {"manager": one.manager, "operation": one.operation, "time": one.time, "byHand": one.by_hand}


def _silenced_entry(silenced: Silenced) -> dict[str, Any]:
    """Write why a finding does not count, and of an exception whose it is and when it ends."""
    entry = {"by": silenced.by, "reason": silenced.reason}
    if exception := silenced.exception:
        entry |= {"exception": exception.name, "owner": exception.owner, "until": exception.until}
    return entry


def patch_entry(patch: Patch) -> dict[str, Any]:
    """Write what one mutation changed."""
    entry: dict[str, Any] = {
        "policy": patch.change.policy.name,
        "message": patch.change.message,
        "resource": resource_entry(patch.resource),
        "source": source_entry(patch.source),
        "operations": list(patch.change.operations),
    }
    if patch.asked:
        entry["request"] = _asked_entry(patch.asked)
    return entry


def resource_entry(resource: Resource) -> dict[str, str]:
    """Write which object."""
    return {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "namespace": resource.namespace,
        "name": resource.name,
    }


def source_entry(source: Source) -> dict[str, Any]:
    """Write where it stands; documents count from 0, lines and columns from 1."""
    return {
        "file": source.file,
        "document": source.document,
        "line": source.line,
        "column": source.column,
    }


def policy_error_entry(error: DocumentError) -> dict[str, Any]:
    """Write one fault of a policy."""
    return {
        "file": error.file,
        "line": error.line,
        "column": error.column,
        "path": error.path,
        "message": error.message,
    }


def fault_entry(error: DocumentError) -> dict[str, Any]:
    """Write one fault of an input; `path` is there for those of a field."""
    entry = {"file": error.file, "line": error.line, "column": error.column, "message": error.message}
    return entry | ({"path": error.path} if error.path else {})
