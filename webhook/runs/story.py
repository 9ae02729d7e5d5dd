"""One recorded review → the story of its decision, told by the pipeline itself."""

from __future__ import annotations

from collections.abc import Iterator

from webhook.engine.configure import exempt
from webhook.engine.explain import warnings
from webhook.engine.pipeline import review
from webhook.engine.teller import Teller
from webhook.model.policy import Policy
from webhook.model.request import AdmissionRequest
from webhook.model.story import Story
from webhook.runs.scan import Prepared


def story(prepared: Prepared, request: AdmissionRequest) -> Story:
    """Decide about the request as `check` does, mutating and validating in one go, and keep every step."""
    teller = Teller()
    decision = review(prepared.policies, request, prepared.context, teller=teller)
    return Story(
        request,
        str(prepared.context.release.version),
        decision,
        tuple(_not_candidates(prepared, request)),
        tuple(teller.stories),
        warnings(decision),
        exempt=exempt(prepared.context.configuration.exempt, request),
    )


def _not_candidates(prepared: Prepared, request: AdmissionRequest) -> Iterator[tuple[Policy, str]]:
    """Say of each policy that was not even asked why."""
    release = prepared.context.release.version
    found = prepared.policies.candidates(request, release)
    candidates = {id(one) for one in (*found.mutating, *found.validating)}
    for one in prepared.policies.policies:
        if id(one) in candidates:
            continue
        held = one.policy.releases is None or release in one.policy.releases
        yield one.policy, "about other requests" if held else f"not for Cozystack {release}"
