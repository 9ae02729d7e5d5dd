"""A verdict → what people need to act on it: place, value, allowed values, near match, words, way out.

Only rules that have something to say come here, so this may take its time: the failed rule is run
again as its instrumented twin.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from webhook.cel.errors import Exhausted
from webhook.cel.program import Activation, Trace
from webhook.engine.compile import name_of
from webhook.engine.evaluate import EVALUATION_FAILURES, Status, Verdict
from webhook.engine.mutate import plain
from webhook.engine.policyset import LinkedPolicy
from webhook.engine.secrecy import conceals
from webhook.errors import closest
from webhook.model.decision import NO_FOUND_FIX, Finding, FoundFix, Outcome
from webhook.model.path import Path, parse, pointer, walk
from webhook.model.policy import Text, Validation
from webhook.model.request import Object

NOT_EVALUATED: Final = "the rule could not be evaluated"
"""How the message of a rule begins that erred, whatever became of it."""
_MESSAGE_LIMIT: Final = 5120
"""Bytes; a computed message that is longer is not used (`MaxMessageExpressionLength` of the API server)."""


@dataclass(frozen=True, slots=True)
class Explainer:
    """Explains verdicts of one policy about one object; `activation` is the one they were reached with.

    A list may break a rule with each of its elements: what they share is worked out once, and after
    `most` of them, or the deadline of the request, only plain words are given.
    """

    policy: LinkedPolicy
    activation: Activation
    most: int
    _told: Counter[str] = field(default_factory=Counter)
    _each: dict[str, Trace] = field(default_factory=dict)

    @property
    def object(self) -> Object:
        """The object that people look at: the old one on DELETE."""
        current = self.activation.object
        return current if current is not None else (self.activation.oldObject or {})

    def finding(self, verdict: Verdict, outcome: Outcome, *, ignored: bool = False) -> Finding:
        """Make the finding. Never raises: a text that cannot be computed falls back on a plainer one."""
        name = verdict.rule.validation.name if verdict.rule else verdict.function
        if verdict.status is Status.PASS:
            return Finding(outcome, self.policy.policy, name)
        self._told["findings"] += 1
        trace = self.trace(verdict)
        path = self._path(verdict, trace)
        found, value = walk(self.object, path) if path else (False, None)
        concealed = conceals(self.policy.policy, self.object, path)
        fields: dict[str, Any] = {
            "field": path,
            "value": None if concealed else value,
            "has_value": found and not concealed,
            "why": self._text(verdict, "why", self.policy.policy.why) or "",
            "ignored": ignored,
        }
        if verdict.status is not Status.FAIL or verdict.rule is None:
            message = self._unevaluated(verdict, trace, outcome)
            return Finding(outcome, self.policy.policy, name, message=message, **fields)
        allowed = self._allowed(verdict)
        near = None if concealed else _near(value, allowed)
        return Finding(
            outcome,
            self.policy.policy,
            name,
            message=self._message(verdict),
            reason=verdict.rule.validation.reason,
            allowed=allowed,
            suggestion=near,
            fix=self._fix(verdict, verdict.rule.validation, path, near),
            **fields,
        )

    def trace(self, verdict: Verdict) -> Trace | None:
        """Run the rule again, watched; what ran out of budget or time is not run twice."""
        if (not verdict.function and verdict.rule is None) or isinstance(verdict.error, Exhausted) or self._late():
            return None
        try:
            paths = self._origins(verdict)
            name = verdict.function or (verdict.rule.name if verdict.rule else "")
            parameters = verdict.parameters
            return self.policy.linked.trace(name, self.activation, *parameters, paths=paths)
        except EVALUATION_FAILURES:
            return None

    def _origins(self, verdict: Verdict) -> tuple[Path | None, ...]:
        """Tell where forEach's parameters stand in the object."""
        if verdict.rule is None or verdict.rule.each is None or verdict.element is None:
            return ()
        name = name_of(verdict.rule.name, "each")
        if name not in self._each:
            self._each[name] = self.policy.linked.trace(name, self.activation)
        origin = self._each[name].elements.get(verdict.element)
        return (origin, None)[: len(verdict.parameters)]

    def _late(self) -> bool:
        return self._told["findings"] > self.most or self.activation.budget.expired()

    def _path(self, verdict: Verdict, trace: Trace | None) -> Path:
        """Take the rule's own `field`, else where the failed expression read what decided it."""
        if verdict.rule is not None:
            field = verdict.rule.validation.field
            written = field.literal or self._text(verdict, "field", field)
            if written:
                try:
                    return parse(_placed(written, verdict.element))
                except ValueError:
                    pass  # a computed path that cannot be read is no reason to lose the finding
        if trace is None or (verdict.error is not None and self.activation.object is None):
            return ()  # on DELETE: what cannot be read of the object that is null stands in no object
        return trace.path or ()

    def _message(self, verdict: Verdict) -> str:
        """Kubernetes' ladder: messageExpression, message, the expression itself."""
        rule = verdict.rule
        assert rule is not None  # noqa: S101 - only rules fail
        literal = rule.validation.message.literal.strip()
        computed = self._text(verdict, "message", rule.validation.message)
        return computed or literal or f"failed expression: {rule.validation.expression.text.strip()}"

    def _unevaluated(self, verdict: Verdict, trace: Trace | None, outcome: Outcome) -> str:
        if verdict.status is Status.SKIP:
            needed = getattr(verdict.error, "what", "something")
            if outcome is Outcome.SKIP:
                return f"not checked: needs {needed}"
            return f"{NOT_EVALUATED}: it needs {needed}, which is not known here"
        if self.policy.may_tell_secret(verdict.function, self.object):
            return f"{NOT_EVALUATED}; the reason is withheld, as it may hold a secret value"
        reason = trace.error if trace and trace.error else str(verdict.error)
        if self.activation.object is None:
            reason += " (on DELETE `object` is null: the rule can read `oldObject`)"
        return f"{NOT_EVALUATED}: {reason}"

    def _allowed(self, verdict: Verdict) -> tuple[Any, ...]:
        values = self._call(verdict, "allowed")
        return tuple(plain(values)) if isinstance(values, list) else ()

    def _fix(self, verdict: Verdict, validation: Validation, path: Path, near: Any) -> FoundFix:
        """Take the policy's own fix; where it has no patch, a near match is one."""
        text = self._text(verdict, "fix", validation.fix.text, near) or validation.fix.text.literal
        operations = self._call(verdict, "patch", near)
        patch = tuple(plain(operations)) if isinstance(operations, list) else ()
        if not patch and near is not None:
            patch = ({"op": "replace", "path": pointer(path), "value": near},)
            text = text or f"replace with `{near}`"
        return FoundFix(text, patch) if text or patch else NO_FOUND_FIX

    def _text(self, verdict: Verdict, role: str, text: Text, *more: Any) -> str | None:
        if text.expression is None:
            return text.literal or None
        computed = self._call(verdict, role, *more)
        told = computed.strip() if isinstance(computed, str) else ""
        if not told or "\n" in told:
            return None
        return told if len(told.encode()) <= _MESSAGE_LIMIT else None

    def _call(self, verdict: Verdict, role: str, *more: Any) -> Any:
        """Run one of the expressions that explain; None when there is none, it fails, or it would tell a secret."""
        name = "why" if role == "why" else name_of(verdict.rule.name, role) if verdict.rule else ""
        function = self.policy.text(name)
        if function is None or self._late() or self.policy.may_tell_secret(name, self.object):
            return None
        try:
            return function(self.activation, *(() if role == "why" else (*verdict.parameters, *more)))
        except EVALUATION_FAILURES:
            return None


def _placed(written: str, element: str | int | None) -> str:
    """Put the current index or key in the place of `@`."""
    if isinstance(element, int):
        return written.replace("[@]", f"[{element}]")
    if element is None:
        return written
    escaped = element.replace("\\", "\\\\").replace('"', '\\"')
    return written.replace("[@]", f'["{escaped}"]').replace(".@", f'["{escaped}"]')


def _near(value: Any, allowed: tuple[Any, ...]) -> Any:
    """Find the allowed value that was probably meant."""
    names = {str(one): one for one in allowed}
    near = closest(value, names) if isinstance(value, str) else None
    return None if near is None else names[near]
