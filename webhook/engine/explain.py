"""Findings and decisions → the words that people read at `kubectl apply`, within Kubernetes' limits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from webhook.engine import remedy
from webhook.engine.decide import refuses
from webhook.model.decision import Change, Decision, Finding, Outcome
from webhook.model.path import render
from webhook.model.policy import Reason
from webhook.model.request import AdmissionRequest, Object

WARNING_LIMIT: Final = 256
"""Characters that the API server lets through of one warning (`WithWarnings`, KEP-1693)."""

WARNINGS_LIMIT: Final = 4096
"""Characters of all warnings of one request together."""


def cause(finding: Finding, request: AdmissionRequest) -> str:
    """Write one finding whole, but for the path in front: what, allowed, why, fix, docs; a line each.

    kubectl prints `* <field>: <this>` for reason Invalid, hence the indent of the lines that follow.
    """
    lines = [f"{finding.message} [{finding.policy.name}]"]
    if finding.allowed:
        lines.append(f"    allowed: {allowed(finding)}")
    if finding.why:
        lines.append(f"    why:  {finding.why}")
    if finding.fix.text:
        lines.append(f"    fix:  {finding.fix.text}")
    lines += [f"          {line}" for line in remedy.lines(finding, request)]
    if finding.policy.docs:
        lines.append(f"    docs: {finding.policy.docs}")
    return "\n".join(lines)


def allowed(finding: Finding) -> str:
    """List the allowed values, with the near match if there is one."""
    values = ", ".join(map(_plain, finding.allowed))
    return f"{values}; did you mean `{_plain(finding.suggestion)}`?" if finding.suggestion is not None else values


def _plain(value: Any) -> str:
    return '""' if value == "" else str(value)


def refusals(decision: Decision) -> Iterator[Finding]:
    """Return the findings that the request is refused for."""
    return filter(refuses, decision.findings)


def subject(request: AdmissionRequest) -> str:
    """Name the object as kubectl does: `Package "cozystack.gpu-operator"`, with its namespace if it has one."""
    place = f' in namespace "{request.namespace}"' if request.namespace else ""
    return f'{request.kind.kind} "{request.display_name}"{place}'


def message(decision: Decision, request: AdmissionRequest) -> str:
    """Write a denial whole: kubectl prints it for every reason but Invalid."""
    found = list(refusals(decision))
    head = f"{subject(request)} is refused by {_count(len(found), 'rule')}:"
    return "\n".join([head, *(f"* {_place(finding)}{cause(finding, request)}" for finding in found)])


def _place(finding: Finding) -> str:
    return f"{render(finding.field)}: " if finding.field else ""


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def status_reason(decision: Decision) -> Reason:
    """Return the reason of the most severe refusal: it decides the HTTP code too."""
    return next((finding.reason for finding in refusals(decision)), Reason.INVALID)


def details(decision: Decision, request: AdmissionRequest) -> Object:
    """Write `status.details`: without kind and name kubectl would drop the causes."""
    causes = [
        {"reason": "FieldValueInvalid", "message": cause(finding, request), "field": render(finding.field)}
        for finding in refusals(decision)
    ]
    return {
        "group": request.kind.group,
        "kind": request.kind.kind,
        "name": request.display_name,
        "causes": causes,
    }


def warnings(decision: Decision) -> tuple[str, ...]:
    """Write what the user should know of a request that goes on, or of the rest of one that does not."""
    texts = [_changed(change) for change in decision.changes] if decision.allowed else []
    texts += [_warned(finding) for finding in decision.findings if _is_warning(finding)]
    return tuple(_within_limits(texts))


def _is_warning(finding: Finding) -> bool:
    return finding.outcome is Outcome.WARN or (finding.outcome is Outcome.ERROR and finding.ignored)


def _changed(change: Change) -> str:
    return f"[{change.policy.name}] {change.message}"


def _warned(finding: Finding) -> str:
    """Say what and where, then the way out as far as one warning can hold it."""
    text = f"[{finding.policy.name}] {_place(finding)}{finding.message}"
    if finding.suggestion is not None:
        text += f"; did you mean `{_plain(finding.suggestion)}`?"
    return f"{text}; fix: {finding.fix.text}" if finding.fix.text else text


def _within_limits(texts: Iterable[str]) -> Iterator[str]:
    """Cut each warning, and stop before all of them are too long; the last one says how many are left out."""
    one_line = [" ".join(text.split()) for text in texts]
    short = [
        text if len(text) <= WARNING_LIMIT else text[: WARNING_LIMIT - 1] + "…" for text in dict.fromkeys(one_line)
    ]
    room = WARNINGS_LIMIT
    for index, text in enumerate(short):
        left = len(short) - index
        notice = f"and {left} more warnings; `cozyguard check` shows all"
        if len(text) + (len(notice) if left > 1 else 0) > room:
            yield notice[:room]
            return
        room -= len(text)
        yield text
