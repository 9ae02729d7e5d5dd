"""What a test case expects, held against what came out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from webhook.cel.errors import CelError
from webhook.engine.explain import warnings
from webhook.engine.patch import apply
from webhook.errors import DocumentError
from webhook.model import path
from webhook.model.decision import Decision, Finding, Outcome
from webhook.model.path import Path
from webhook.model.suite import Case, Difference, Expectation, Expected, Violations

_EVALUATED: Final = "a policy that was evaluated"
_BROKEN: Final = frozenset({Outcome.DENY, Outcome.WARN, Outcome.AUDIT})


def differences(case: Case, decision: Decision) -> Iterator[Difference]:
    """Find what does not hold of a decision; nothing means that the case passes."""
    expect = case.expect
    findings = [finding for finding in decision.findings if _is_about(finding, expect)]
    evaluated = expect.policy in decision.evaluated if expect.policy else bool(decision.evaluated)
    got = _outcome(findings, evaluated=evaluated)
    if expect.outcome is None and got in {Expected.SKIP, Expected.NOT_MATCHED}:
        yield Difference("outcome", _EVALUATED, _told(got, findings))
    elif expect.violations is not None:
        yield from _violations(expect, expect.violations, got, findings)
    elif expect.outcome not in (None, got) and not _among_others(expect.outcome, got, findings):
        yield Difference("outcome", expect.outcome.value, _told(got, findings))
    else:
        yield from _nearest(expect, findings)
    yield from _changes(case, decision)
    if expect.warnings is not None:
        yield from _warnings(expect.warnings, warnings(decision))
    for key, text in (expect.audit_annotations or {}).items():
        if decision.audit_annotations.get(key) != text:
            yield Difference(f"audit annotation {key}", text, decision.audit_annotations.get(key))


def invalid_differences(case: Case, errors: Sequence[DocumentError]) -> Iterator[Difference]:
    """Find what does not hold of a case about policies that do not load."""
    expect = case.expect
    if not errors:
        yield Difference("outcome", Expected.INVALID.value, "policies that load")
    elif not any(expect.field in ("", error.path) and says(expect.message, error.message) for error in errors):
        yield Difference("error", f"{expect.field} {expect.message}".strip(), "\n".join(map(str, errors)))


def _is_about(finding: Finding, expect: Expectation) -> bool:
    return finding.outcome is not Outcome.PASS and (
        expect.policy in ("", finding.policy.name) and expect.rule in ("", finding.rule)
    )


def _outcome(findings: Sequence[Finding], *, evaluated: bool) -> Expected:
    """Take the most serious; findings come in this order."""
    if findings:
        return Expected(findings[0].outcome.value)
    return Expected.ALLOW if evaluated else Expected.NOT_MATCHED


def _among_others(wanted: Expected, got: Expected, findings: Sequence[Finding]) -> bool:
    """Is it one of several outcomes, and not hidden by one that refuses where it does not."""
    refused = got in {Expected.DENY, Expected.ERROR} and wanted not in {Expected.DENY, Expected.ERROR}
    return not refused and any(finding.outcome.value == wanted.value for finding in findings)


def _violations(
    expect: Expectation, wanted: Violations, got: Expected, findings: Sequence[Finding]
) -> Iterator[Difference]:
    """Count the broken rules that say what is expected."""
    broken = [one for one in findings if one.outcome in _BROKEN and says(expect.message, one.message)]
    if len(broken) not in wanted:
        saying = f" that say {expect.message}" if expect.message else ""
        yield Difference("broken rules", f"{wanted}{saying}", f"{len(broken)}, of {_told(got, findings)}")


def _told(got: Expected, findings: Sequence[Finding]) -> str:
    return "\n".join([got.value, *(f"{_place(finding.field)}{finding.message}" for finding in findings)])


def _place(field: Path) -> str:
    return f"{path.render(field)}: " if field else ""


def _nearest(expect: Expectation, findings: Sequence[Finding]) -> list[Difference]:
    """Compare with the finding that fits best: all that is expected of one must be true of the same."""
    fitting = [f for f in findings if expect.outcome is None or f.outcome.value == expect.outcome.value]
    if not fitting:
        return list(_finding_differences(expect, None))
    return min((list(_finding_differences(expect, finding)) for finding in fitting), key=len)


def _finding_differences(expect: Expectation, finding: Finding | None) -> Iterator[Difference]:
    if expect.field and not (finding and path.parse(expect.field) == finding.field):
        yield Difference("field", expect.field, finding and path.render(finding.field))
    if expect.message and not (finding and says(expect.message, finding.message)):
        yield Difference("message", expect.message, finding and finding.message)
    if expect.reason and not (finding and finding.reason.value == expect.reason):
        yield Difference("reason", expect.reason, finding and finding.reason.value)


def says(wanted: str, text: str) -> bool:
    """Is the text, or the `/regular expression/`, found in the message."""
    if len(wanted) > 1 and wanted.startswith("/") and wanted.endswith("/"):
        return re.search(wanted[1:-1], text) is not None
    return wanted in text


def _changes(case: Case, decision: Decision) -> Iterator[Difference]:
    """Compare objects rather than operations: another sequence with the same result is as good."""
    expect, obj = case.expect, case.object
    if expect.patched is None and expect.patch is None:
        return
    got = apply(obj, decision.patch) if obj is not None and decision.patch else obj
    if expect.patched is not None:
        wanted, made = (expect.patched, got) if expect.empties else map(_without_empties, (expect.patched, got))
        if not _equal(wanted, made):
            yield Difference("patched", wanted, made)
    if expect.patch is not None:
        try:
            wanted = apply(obj, expect.patch) if obj is not None else None
        except CelError as error:
            yield Difference("patch", list(expect.patch), f"cannot be applied: {error}")
            return
        if not _equal(wanted, got):
            yield Difference("patch", list(expect.patch), list(decision.patch))


def _without_empties(value: Any) -> Any:
    """Leave out null, and lists and maps that hold nothing else."""
    if isinstance(value, dict):
        parts = {key: _without_empties(part) for key, part in value.items()}
        return {key: part for key, part in parts.items() if part not in (None, {}, [])}
    if isinstance(value, list):
        return [part for part in map(_without_empties, value) if part not in (None, {}, [])]
    return value


def _equal(a: Any, b: Any) -> bool:
    """Compare as JSON, where `true` is not 1."""
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def _warnings(wanted: Sequence[str], got: Sequence[str]) -> Iterator[Difference]:
    if len(wanted) != len(got) or not all(map(says, wanted, got)):
        yield Difference("warnings", list(wanted), list(got))
