"""One live object → what the policies say of it, as they would if it were created as it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from webhook.cluster.authorizer import settled
from webhook.engine.context import Context
from webhook.engine.pipeline import review
from webhook.model.decision import Finding
from webhook.model.preview import Previewed
from webhook.model.release import Release
from webhook.model.request import Object
from webhook.model.result import Checked, Resource, Result, Silenced, Source
from webhook.runs.audit.managers import set_by
from webhook.runs.audit.prepare import Ready
from webhook.runs.audit.targets import Target
from webhook.runs.locate import at_one_place
from webhook.runs.preview import differing

_SECONDS: Final = 30.0
"""For the answers to what expressions ask of `authorizer`."""


async def judge(audit: Ready, target: Target, obj: Object) -> Checked:
    """Judge an object. Its place is the object itself, for it stands in no file."""
    questions = audit.questions()
    context = replace(audit.context, authorizer=questions)
    return await settled(questions, _patience, lambda: _judged(context, target, obj))


async def compare(audit: Ready, after: Release, target: Target, obj: Object) -> Previewed:
    """Judge an object for the audit's release and another one, and tell what differs."""
    questions = audit.questions()
    before = replace(audit.context, authorizer=questions)
    then = replace(before, release=after)

    def differences() -> Previewed:
        return differing(_judged(before, target, obj), _judged(then, target, obj))

    return await settled(questions, _patience, differences)


def _patience() -> float:
    return _SECONDS


def _judged(context: Context, target: Target, obj: Object) -> Checked:
    request = target.request(obj)
    resource = Resource(request.kind.api_version, request.kind.kind, request.namespace, request.name)
    if "deletionTimestamp" in obj["metadata"]:  # as at the webhook: what is going may go
        return Checked(resource)
    source = Source(str(resource))

    def result(finding: Finding, silenced: Silenced | None) -> Result:
        return Result(finding, resource, source, silenced, set_by(obj, finding.field))

    return at_one_place(source, resource, request, review(target.policies, request, context), result)
