"""One review → the story of its decision, told by the pipeline itself."""

from __future__ import annotations

from collections.abc import Iterator

from webhook.engine.configure import exempt
from webhook.engine.context import Context
from webhook.engine.explain import warnings
from webhook.engine.pipeline import review
from webhook.engine.policyset import PolicySet
from webhook.engine.teller import Teller
from webhook.model.policy import Policy
from webhook.model.release import Minor
from webhook.model.request import AdmissionRequest
from webhook.model.story import Story


def story(policies: PolicySet, context: Context, request: AdmissionRequest) -> Story:
    """Decide about the request as `check` does, mutating and validating in one go, and keep every step."""
    teller = Teller()
    decision = review(policies, request, context, teller=teller)
    return Story(
        request,
        str(context.release.version),
        decision,
        tuple(_not_candidates(policies, context.release.version, request)),
        tuple(teller.stories),
        warnings(decision),
        exempt=exempt(context.configuration.exempt, request),
    )


def _not_candidates(policies: PolicySet, release: Minor, request: AdmissionRequest) -> Iterator[tuple[Policy, str]]:
    """Say of each policy that was not even asked why."""
    found = policies.candidates(request, release)
    candidates = {id(one) for one in (*found.mutating, *found.validating)}
    for one in policies.policies:
        if id(one) in candidates:
            continue
        held = one.policy.releases is None or release in one.policy.releases
        yield one.policy, "about other requests" if held else f"not for Cozystack {release}"
