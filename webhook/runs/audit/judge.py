"""One live object → what the policies say of it, as they would if it were created as it is."""

from __future__ import annotations

from webhook.engine.context import Context
from webhook.engine.pipeline import review
from webhook.model.decision import Finding
from webhook.model.preview import Previewed
from webhook.model.request import Object
from webhook.model.result import Checked, Resource, Result, Silenced, Source
from webhook.runs.audit.managers import set_by
from webhook.runs.audit.targets import Target
from webhook.runs.locate import at_one_place
from webhook.runs.preview import differing


def judge(context: Context, target: Target, obj: Object) -> Checked:
    """Judge an object. Its place is the object itself, for it stands in no file."""
    request = target.request(obj)
    resource = Resource(request.kind.api_version, request.kind.kind, request.namespace, request.name)
    if "deletionTimestamp" in obj["metadata"]:  # as at the webhook: what is going may go
        return Checked(resource)
    source = Source(str(resource))

    def result(finding: Finding, silenced: Silenced | None) -> Result:
        return Result(finding, resource, source, silenced, set_by(obj, finding.field))

    return at_one_place(source, resource, request, review(target.policies, request, context), result)


def compare(before: Context, after: Context, target: Target, obj: Object) -> Previewed:
    """Judge an object for two releases, and tell what differs."""
    return differing(judge(before, target, obj), judge(after, target, obj))
