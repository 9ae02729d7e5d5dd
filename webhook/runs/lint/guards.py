"""Reads that fail for objects that are fine: of what may be absent, or null."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from webhook.cel.tree import Select
from webhook.model.diagnosis import Level
from webhook.model.lint import Check, Finding
from webhook.runs.lint.met import Met, Step
from webhook.runs.lint.subject import Subject, finding

_FAILS: Final = (
    "the rule cannot be evaluated then: under failurePolicy Fail a harmless object is refused, under Ignore a bad one "
    "passes"
)

MISSING: Final = Check("missing-guard", Level.WARNING, "a field is read that may be absent", _FAILS)
HAS: Final = Check(
    "unguarded-has",
    Level.ERROR,
    "has() with a step before the last that may be absent",
    "has() tests the last step only; " + _FAILS,
)
OBJECT: Final = Check("null-object", Level.ERROR, "the object is read where it is null", _FAILS)
NAMESPACE: Final = Check("null-namespace", Level.ERROR, "namespaceObject is read where it is null", _FAILS)
OUTSIDE: Final = Check("null-elsewhere", Level.WARNING, "params or a lookup is read that may be null", _FAILS)
MESSAGE: Final = Check(
    "failing-message",
    Level.WARNING,
    "a message, or a fix, that can fail",
    "people read the literal message in its place, or the expression itself, and look in vain for what was meant",
)

_NULL_ON: Final = {"object": "DELETE", "oldObject": "CREATE"}
_SAID: Final = ("message", "fix", "patch", "field", "allowed", "why")


def check(subject: Subject, met: Met) -> Iterator[Finding]:
    """Find the first unguarded step of each way that is read."""
    for step in met.steps:
        if step.null and (found := _null(subject, step)):
            yield found
        elif not (step.soft or step.there or step.shape.failed):
            yield _missing(subject, step, _is_tested(step, met))


def _is_tested(step: Step, met: Met) -> bool:
    """Does a `has()` go on from this step."""
    node = step.node
    for other in met.steps:
        if other.part is step.part and other.operand is node:
            if isinstance(other.node, Select) and other.node.test:
                return True
            node = other.node
    return False


def _missing(subject: Subject, step: Step, tested: bool) -> Finding:
    part, message = step.part, f"`{step.part.text(step.node)}` may be absent"
    if part.last in _SAID:
        return finding(MESSAGE, subject, part, step.node, message, _way_out(step))
    if tested:
        message += ", and has() tests the last step only"
        return finding(HAS, subject, part, step.node, message, _way_out(step))
    return finding(MISSING, subject, part, step.node, message, _way_out(step))


def _way_out(step: Step) -> str:
    operand = step.part.text(step.operand)
    if not step.name:
        return f"ask `… in {operand}` first, or write `{operand}[?…].orValue(…)`"
    return f"ask `has({operand}.{step.name})` first, or go on from `{operand}.?{step.name}` and end with `.orValue(…)`"


def _null(subject: Subject, step: Step) -> Finding | None:
    """Tell of a root that is null in some of the requests that the policy is about."""
    root = step.null
    if root in _NULL_ON:
        return _null_object(subject, step, _NULL_ON[root])
    if root == "namespaceObject":
        return _null_namespace(subject, step)
    if root == "params" and subject.policy.params and subject.policy.params.required:
        return None
    fix = f"ask `{root} != null` first, or write `{root}.?…`"
    return finding(OUTSIDE, subject, step.part, step.operand, f"`{root}` is null where there is none", fix)


def _null_object(subject: Subject, step: Step, operation: str) -> Finding | None:
    if operation not in subject.matched.operations:
        return None
    other = "oldObject" if step.null == "object" else "object"
    message = f"`{step.null}` is null on {operation}, which `operations` has"
    fix = f"ask `{step.null} != null` first, or read `{other}` on {operation}"
    return finding(OBJECT, subject, step.part, step.operand, message, fix)


def _null_namespace(subject: Subject, step: Step) -> Finding | None:
    matched = subject.matched
    kinds = sorted({one.of.kind for one in matched.kinds if one.namespaced is False or one.of.kind == "Namespace"})
    if not kinds and not matched.others:
        return None
    has = "has" if len(kinds) == 1 else "have"
    objects = f"{', '.join(kinds)}, which {has} no namespace" if kinds else "objects without a namespace"
    message, fix = f"`namespaceObject` is null for {objects}", "ask `namespaceObject != null` first"
    return finding(NAMESPACE, subject, step.part, step.operand, message, fix)
