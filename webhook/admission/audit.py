"""Kubernetes' audit log: an Event (`audit.k8s.io/v1`) → the request that admission saw.

https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/
"""

from __future__ import annotations

from typing import Any, Final

from webhook.admission.synthesize import request_variable
from webhook.errors import ReviewError
from webhook.model.request import (
    CREATE,
    DELETE,
    UPDATE,
    AdmissionRequest,
    GroupVersionKind,
    GroupVersionResource,
    Object,
    UserInfo,
)

GROUP: Final = "audit.k8s.io/"

_OPERATIONS: Final = {"create": CREATE, "update": UPDATE, "patch": UPDATE, "delete": DELETE}
_MADE: Final = 201
"""What a patch answers that has made the object: `kubectl apply --server-side` of a new one."""


class NotJudged(Exception):
    """An event does not tell enough of a request that admission saw; the message says what is missing."""


def operation(event: Object) -> str | None:
    """Give the operation of an event that changed something; None for all others, which there is nothing to judge of.

    Reading ones, those of an earlier stage, those that failed, and those of a whole collection are others.
    """
    found = _OPERATIONS.get(_text(event, "verb"))
    status = event.get("responseStatus")
    code = status.get("code") if isinstance(status, dict) else None
    if found is None or event.get("stage") != "ResponseComplete" or not isinstance(code, int) or code >= 400:
        return None
    return CREATE if code == _MADE and found == UPDATE else found


def key(event: Object) -> tuple[str, ...]:
    """Name the object of an event among all."""
    ref = _part(event, "objectRef")
    return tuple(_text(ref, name) for name in ("apiGroup", "resource", "namespace", "name"))


def written(event: Object) -> Object | None:
    """Give the object as it was sent, or as a patch made it; None where the log's level leaves it out."""
    name = "responseObject" if event.get("verb") == "patch" else "requestObject"
    obj = event.get(name)
    return obj if isinstance(obj, dict) and obj.get("kind") not in (None, "Status", "DeleteOptions") else None


def request(event: Object, old: Object | None) -> AdmissionRequest:
    """Make the request; `old` is the object before, as far as it is known. Raises NotJudged, ReviewError."""
    made, obj = operation(event) or CREATE, written(event)
    if obj is None and made != DELETE:
        raise NotJudged("the log does not hold the object: its level has to be Request, for patches RequestResponse")
    if old is None and made != CREATE:
        raise NotJudged("the log does not hold the object as it was before")
    ref = _part(event, "objectRef")
    resource = GroupVersionResource(_text(ref, "apiGroup"), _text(ref, "apiVersion"), _text(ref, "resource"))
    found = AdmissionRequest(
        uid=_text(event, "auditID"),
        operation=made,
        kind=GroupVersionKind.of(obj or old or {}),
        resource=resource,
        request_resource=resource,
        subresource=_text(ref, "subresource"),
        name=_text(ref, "name"),
        namespace=_text(ref, "namespace"),
        user=_user(event),
        object=None if made == DELETE else obj,
        old_object=None if made == CREATE else old,
        dry_run="dryRun=All" in _text(event, "requestURI"),
        cel={},
    )
    found.cel.update(request_variable(found))
    return found


def _user(event: Object) -> UserInfo:
    info = event.get("impersonatedUser") or _part(event, "user")
    groups = info.get("groups") or []
    return UserInfo(_text(info, "username"), tuple(map(str, groups)), _text(info, "uid"), info.get("extra") or {})


def _part(event: Object, name: str) -> Object:
    part: Any = event.get(name)
    if not isinstance(part, dict):
        raise ReviewError(f"{name}: missing, want an object")
    return part


def _text(part: Object, name: str) -> str:
    value = part.get(name)
    return value if isinstance(value, str) else ""
