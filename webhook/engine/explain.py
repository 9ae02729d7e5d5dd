"""Findings and decisions → the words that people read at `kubectl apply`, within Kubernetes' limits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from webhook.engine import remedy
from webhook.engine.decide import refuses
from webhook.engine.match import is_namespace
from webhook.model.decision import Change, Decision, Finding, Outcome
from webhook.model.path import render
from webhook.model.policy import Reason
from webhook.model.request import AdmissionRequest, Object

WARNING_LIMIT: Final = 256
"""Characters that the API server lets through of one warning (`WithWarnings`, KEP-1693)."""

WARNINGS_LIMIT: Final = 4096
"""Characters of all warnings of one request together."""

CAUSES_LIMIT: Final = 50
"""Findings that a denial explains; nobody mends more before trying again."""


class Cause(NamedTuple):
    """One finding in words: where, and all there is to say about it."""

    field: str
    text: str


def causes(decision: Decision, request: AdmissionRequest, again: remedy.Again | None = None) -> list[Cause]:
    """Explain what a request is refused for, the worst first; how many more there are, where there are too many.

    With `again`, no way out is offered that leads to another refusal.
    """
    found = [finding for finding in decision.findings if refuses(finding)]
    mended = zip(found[:CAUSES_LIMIT], remedy.lines(found, request, again), strict=False)
    told = [Cause(render(finding.field), _cause(finding, mend)) for finding, mend in mended]
    if more := len(found) - len(told):
        told.append(Cause("", f"and {more} more; `cozyguard check` shows all"))
    return told


def _cause(finding: Finding, mend: Iterable[str]) -> str:
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
    lines += [f"          {line}" for line in mend]
    if finding.policy.docs:
        lines.append(f"    docs: {finding.policy.docs}")
    return "\n".join(map(_visible, lines))


def _visible(text: str) -> str:
    """Escape what does not print: a value of the object must not move the cursor of whoever applies it."""
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def allowed(finding: Finding) -> str:
    """List the allowed values, with the near match if there is one."""
    values = ", ".join(map(_plain, finding.allowed))
    return f"{values}; did you mean `{_plain(finding.suggestion)}`?" if finding.suggestion is not None else values


def _plain(value: Any) -> str:
    return '""' if value == "" else str(value)


def subject(request: AdmissionRequest) -> str:
    """Name the object as kubectl does: `Package "cozystack.gpu-operator"`, with its namespace if it has one."""
    place = f' in namespace "{request.namespace}"' if request.namespace and not is_namespace(request) else ""
    return f'{request.kind.kind} "{request.display_name}"{place}'


def message(causes: Sequence[Cause], request: AdmissionRequest) -> str:
    """Write a denial whole: kubectl prints it for every reason but Invalid."""
    told = (f"* {cause.field}: {cause.text}" if cause.field else f"* {cause.text}" for cause in causes)
    return "\n".join([f"{subject(request)} is refused:", *told])


def _place(finding: Finding) -> str:
    return f"{render(finding.field)}: " if finding.field else ""


def status_reason(decision: Decision) -> Reason:
    """Return the reason of the most severe refusal: it decides the HTTP code too."""
    return next((finding.reason for finding in decision.findings if refuses(finding)), Reason.INVALID)


def details(causes: Sequence[Cause], request: AdmissionRequest) -> Object:
    """Write `status.details`: without kind and name kubectl would drop the causes."""
    return {
        "group": request.kind.group,
        "kind": request.kind.kind,
        "name": request.display_name,
        "causes": [{"reason": "FieldValueInvalid", "message": one.text, "field": one.field} for one in causes],
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
    one_line = [_visible(" ".join(text.split())) for text in texts]
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
