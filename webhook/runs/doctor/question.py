"""Whether a webhook is asked about a request, as the API server decides it: by the engine that matches policies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from webhook.engine.compile import compile_policy
from webhook.engine.context import Cluster, Context
from webhook.engine.match import rules_may_match
from webhook.engine.pipeline import review
from webhook.engine.policyset import PolicySet
from webhook.errors import DocumentError, DocumentErrors
from webhook.model.decision import Outcome
from webhook.model.policy import (
    NOWHERE,
    Expression,
    MatchResources,
    NamedExpression,
    Origin,
    Policy,
    Validation,
)
from webhook.model.release import Minor, Release
from webhook.model.request import AdmissionRequest
from webhook.model.webhook import Webhook

_REFUSES: Final = (Validation("asked", Expression("false", NOWHERE)),)
_NO_RELEASE: Final = Release(Minor(0, 0), {})


class Question:
    """Tells whether a webhook is asked: for that it is a policy that refuses whatever it is about.

    `faults` are match conditions that cannot be tested here; they are taken to be true.
    """

    def __init__(self, webhook: Webhook, cluster: Cluster) -> None:
        """Compile the match conditions; the cluster tells the labels of namespaces."""
        self._match = any_version(webhook.match)
        conditions, faults = _testable(webhook.match_conditions)
        self.faults: tuple[DocumentError, ...] = faults
        self._policies = PolicySet.link([compile_policy(_policy(webhook, conditions, self._match))])
        self._context = Context(_NO_RELEASE, cluster)

    def asks(self, request: AdmissionRequest) -> bool:
        """Is the request sent to the webhook, or refused because a match condition of it fails."""
        if not self._match.resource_rules:
            return False  # no rules fit nothing here, and everything in a policy's binding
        findings = review(self._policies, request, self._context, mutate=False).findings
        return any(one.outcome in {Outcome.DENY, Outcome.ERROR} and not one.ignored for one in findings)

    def rule(self, request: AdmissionRequest) -> int:
        """Give the index of the first rule that fits a request which the webhook is asked about."""
        return next(
            index
            for index, rule in enumerate(self._match.resource_rules)
            if rules_may_match(MatchResources((rule,), match_policy=self._match.match_policy), request)
        )


def any_version(match: MatchResources) -> MatchResources:
    """With Equivalent the API server converts: a rule about any version of a resource is about all of them."""
    if match.match_policy == "Exact":
        return match
    rules = tuple(replace(rule, api_versions=("*",)) for rule in match.resource_rules)
    return replace(match, resource_rules=rules)


def _policy(webhook: Webhook, conditions: Iterable[NamedExpression], match: MatchResources) -> Policy:
    return Policy(
        name=webhook.name,
        match=match,
        origin=Origin.VALIDATING_ADMISSION_POLICY,
        failure_policy=webhook.failure_policy,
        match_conditions=tuple(conditions),
        validations=_REFUSES,
        on_existing_violation=None,
    )


def _testable(
    conditions: Iterable[NamedExpression],
) -> tuple[list[NamedExpression], tuple[DocumentError, ...]]:
    """Sort out the conditions that do not compile, with the first fault of each."""
    kept: list[NamedExpression] = []
    faults: list[DocumentError] = []
    for condition in conditions:
        try:
            compile_policy(Policy("condition", MatchResources(), match_conditions=(condition,)))
            kept.append(condition)
        except DocumentErrors as found:
            faults.append(found.errors[0])
    return kept, tuple(faults)
