"""What a review tells of itself to whoever asks for a story: the same steps, watched, and no second way to decide."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from webhook.cel.program import Activation, Trace
from webhook.cel.values import Optional
from webhook.engine.compile import name_of
from webhook.engine.evaluate import Verdict
from webhook.engine.finding import Explainer
from webhook.engine.mutate import plain
from webhook.engine.policyset import LinkedPolicy
from webhook.model.decision import Change, Finding
from webhook.model.policy import Policy
from webhook.model.story import Phase, PolicyStory, Reason, Step, Told

_WITHHELD: Final = "cannot be tested; the reason is withheld, as it may hold a secret value"


class Teller:
    """Listens to one review. What it runs is the instrumented twin of what the review ran."""

    def __init__(self) -> None:
        """Start with nothing to tell."""
        self.stories: list[PolicyStory] = []

    def begin(self, policy: Policy, phase: Phase) -> None:
        """Hear that a policy's turn has come."""
        self.stories.append(PolicyStory(policy, phase))

    def leave(self, why: str) -> None:
        """Hear why the policy has nothing to decide here."""
        self.stories[-1].left = why

    def conditions(self, policy: LinkedPolicy, activation: Activation) -> None:
        """Hear that the match conditions were tested."""
        for index, condition in enumerate(policy.policy.match_conditions):
            name = name_of("condition", index)
            trace = policy.linked.trace(name, activation)
            steps = _steps(policy, name, activation, trace)
            failure = trace.error and (_WITHHELD if steps is None else trace.error)
            result = failure or str(trace.value).lower()
            told = Told(condition.name, condition.expression.text, result, steps, reason=_reason(trace, steps))
            self.stories[-1].conditions.append(told)

    def changed(self, changes: Iterable[Change]) -> None:
        """Hear what the mutations did."""
        self.stories[-1].changes = tuple(changes)

    def judged(self, explainer: Explainer, verdict: Verdict, finding: Finding | None) -> None:
        """Hear what became of a rule; there is no finding where an exception lets it pass."""
        rule = verdict.rule
        name = verdict.function or (rule.name if rule else "")
        trace = explainer.trace(verdict)
        steps = _steps(explainer.policy, name, explainer.activation, trace) if trace else ()
        told = Told(
            name=rule.validation.name if rule else name,
            text=rule.validation.expression.text if rule else "",
            result=finding.outcome.value if finding else "excepted",
            steps=steps,
            element=verdict.element,
            finding=finding,
            reason=_reason(trace, steps),
        )
        self.stories[-1].rules.append(told)


def _steps(policy: LinkedPolicy, name: str, activation: Activation, trace: Trace) -> tuple[Step, ...] | None:
    """Take the parts of an expression, unless one of them can be something that must never be shown."""
    obj = activation.object if activation.object is not None else (activation.oldObject or {})
    if policy.may_tell_secret(name, obj):
        return None
    return tuple({text: _step(text, value) for text, value in trace.steps}.values())


def _reason(trace: Trace | None, steps: tuple[Step, ...] | None) -> Reason | None:
    """Take the outline of an expression, unless its parts are withheld."""
    told = trace.reason if trace and steps is not None else None
    return _plain(told) if told else None


def _plain(told: Reason) -> Reason:
    return replace(told, value=plain(told.value), because=tuple(map(_plain, told.because)))


def _step(text: str, value: Any) -> Step:
    if isinstance(value, Exception):
        return Step(text, error=str(value))
    if isinstance(value, Optional) and not value.has_value:
        return Step(text, error="none")
    return Step(text, plain(value))
