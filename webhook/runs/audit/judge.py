"""One live object → what the policies say of it, as they would if it were created as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from webhook.engine.context import Context
from webhook.engine.pipeline import review
from webhook.model.decision import Finding
from webhook.model.path import Path
from webhook.model.policy import Policy
from webhook.model.preview import Previewed
from webhook.model.request import Object
from webhook.model.result import Checked, Resource, Result, Silenced, Source
from webhook.runs.audit.managers import set_by
from webhook.runs.audit.targets import Target
from webhook.runs.locate import patches
from webhook.runs.preview import differing

Judged = TypeVar("Judged")
Judge = Callable[[Target, Object], Judged]


def judging(context: Context, *, passes: bool = False) -> Judge[Checked]:
    """Judge objects for one release."""

    def judge(target: Target, obj: Object) -> Checked:
        request = target.request(obj)
        resource = Resource(request.kind.api_version, request.kind.kind, request.namespace, request.name)
        if "deletionTimestamp" in obj["metadata"]:  # as at the webhook: what is going may go
            return Checked(resource)
        decision = review(target.policies, request, context, passes=passes)
        if not (decision.findings or decision.changes or decision.excused):
            return Checked(resource)
        source = Source(str(resource))

        def result(finding: Finding, silenced: Silenced | None = None) -> Result:
            return Result(finding, resource, source, silenced, set_by(obj, finding.field))

        def place(_policy: Policy, _path: Path) -> Source:
            return source

        excused = (
            result(one.finding, Silenced("exception", one.exception.reason, one.exception)) for one in decision.excused
        )
        return Checked(
            resource,
            (*map(result, decision.findings), *excused),
            tuple(patches(place, resource, request.object or {}, decision.changes)),
            file=source.file,
        )

    return judge


def comparing(before: Context, after: Context) -> Judge[Previewed]:
    """Judge objects for two releases, and tell what differs."""
    old, new = judging(before), judging(after)

    def judge(target: Target, obj: Object) -> Previewed:
        return differing(old(target, obj), new(target, obj))

    return judge
