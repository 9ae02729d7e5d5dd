"""The way of a review: match → mutate → evaluate → decide → explain. The only one: everybody calls `review`."""

from __future__ import annotations

from webhook.engine.configure import exempt
from webhook.engine.context import Context
from webhook.engine.decide import ordered, refuses
from webhook.engine.patch import difference
from webhook.engine.policyset import PolicySet
from webhook.engine.review import Review
from webhook.engine.teller import Teller
from webhook.model.decision import Decision
from webhook.model.request import AdmissionRequest


def review(
    policies: PolicySet,
    request: AdmissionRequest,
    context: Context,
    *,
    mutate: bool = True,
    validate: bool = True,
    passes: bool = False,
    teller: Teller | None = None,
) -> Decision:
    """Decide about one request. Never raises for what an object or a policy holds.

    The API server asks twice, first to mutate, then to validate what all mutations made; a file is
    mutated and validated in one go. `passes` adds a finding for each rule that holds; so does a `teller`,
    who is told of every step.
    """
    if exempt(context.configuration.exempt, request):
        return Decision(allowed=True, object=request.object)
    candidates = policies.candidates(request, context.release.version)
    if not (mutate and candidates.mutating) and not (validate and candidates.validating):
        return Decision(allowed=True, object=request.object)
    work = Review(policies, request, context, passes=passes, teller=teller)
    if mutate:
        for policy in candidates.mutating:
            work.mutate(policy)
        work.match_anew()
        for policy in candidates.mutating:
            if work.changed_since(policy):
                work.mutate(policy)
    if validate and work.concerns(candidates.gates):
        work.match_anew()
        for policy in candidates.validating:
            work.validate(policy)
    return _decision(request, work)


def _decision(request: AdmissionRequest, work: Review) -> Decision:
    if not (work.findings or work.changes or work.annotations or work.excused):
        return Decision(allowed=True, object=request.object, evaluated=tuple(work.evaluated))
    findings = ordered(work.findings)
    before, after = request.object, work.request.object
    return Decision(
        allowed=not any(map(refuses, findings)),
        findings=findings,
        changes=tuple(work.changes),
        patch=difference(before, after) if before is not None and after is not None else (),
        object=after,
        audit_annotations=work.audit_annotations(),
        evaluated=tuple(work.evaluated),
        excused=tuple(work.excused),
    )
