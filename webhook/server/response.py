"""A decision as the API server reads it: the verdict, its words for people, and what it changes."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus

from webhook.admission import codec
from webhook.engine import explain
from webhook.engine.remedy import Again
from webhook.model.decision import Decision
from webhook.model.policy import FailurePolicy, Policy
from webhook.model.request import AdmissionRequest


def encode(request: AdmissionRequest, decision: Decision, again: Again | None = None) -> bytes:
    """Write the AdmissionReview that answers this request; a way out that is offered is tried with `again`."""
    if decision.allowed and not decision.findings and not decision.changes and not decision.audit_annotations:
        return codec.encode_allowed(request.uid)
    reason = explain.status_reason(decision)
    status = None
    if not decision.allowed:
        causes = explain.causes(decision, request, again)
        details = explain.details(causes, request)
        status = codec.status(explain.message(causes, request), reason.value, reason.status, details)
    response = codec.response(
        allowed=decision.allowed,
        status=status,
        warnings=explain.warnings(decision),
        patch=decision.patch,
        audit_annotations=decision.audit_annotations,
    )
    return codec.encode(request.uid, response)


def encode_failure(request: AdmissionRequest, policies: Iterable[Policy]) -> bytes:
    """Answer a request that we failed to decide about, with its uid, as the policies' failurePolicy says.

    Which policies would have matched is not known any more: one that says Fail is enough to refuse.
    """
    message = "cozyguard failed to decide about this request; its log names the failure by this uid: " + request.uid
    allowed = all(policy.failure_policy is FailurePolicy.IGNORE for policy in policies)
    status = codec.status(message, "InternalError", HTTPStatus.INTERNAL_SERVER_ERROR, {})
    return codec.encode(request.uid, codec.response(allowed=allowed, status=status, warnings=(message,)))
