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

    Reading ones, those of an earlier stage, those that failed, and those of a whole collection are others. Raises
    ReviewError.
    """
    found = _OPERATIONS.get(_text(event, "verb"))
    status = event.get("responseStatus")
    code = status.get("code") if isinstance(status, dict) else None
    if found is None or event.get("stage") != "ResponseComplete" or type(code) is not int or code >= 400:
        return None
    return CREATE if code == _MADE and found == UPDATE else found


def key(event: Object) -> tuple[str, ...]:
    """Name the object of an event among all. Raises ReviewError."""
    ref = _part(event, "objectRef")
    return tuple(_text(ref, name, "objectRef.") for name in ("apiGroup", "resource", "namespace", "name"))


def written(event: Object) -> Object | None:
    """Give the object as it was sent, or as a patch made it; None where the log's level leaves it out."""
    name = "responseObject" if event.get("verb") == "patch" else "requestObject"
    obj = event.get(name)
    kind = obj.get("kind") if isinstance(obj, dict) else None
    return obj if isinstance(kind, str) and kind not in ("Status", "DeleteOptions") else None


def dry_run(event: Object) -> bool:
    """Has nothing been stored. Raises ReviewError."""
    return "dryRun=All" in _text(event, "requestURI")


def request(event: Object, old: Object | None) -> AdmissionRequest:
    """Make the request; `old` is the object before, as far as it is known. Raises NotJudged, ReviewError."""
    made, obj = operation(event) or CREATE, written(event)
    if obj is None and made != DELETE:
        raise NotJudged("the log does not hold the object: its level has to be Request, for patches RequestResponse")
    if obj and old and obj["kind"] != old.get("kind"):  # a Scale, say, of a Deployment
        old = None
    if old is None and made != CREATE:
        raise NotJudged("the log does not hold the object as it was before")
    ref = _part(event, "objectRef")
    version, subresource = (_text(ref, name, "objectRef.") for name in ("apiVersion", "subresource"))
    group, plural, namespace, name = key(event)
    resource = GroupVersionResource(group, version, plural)
    found = AdmissionRequest(
        uid=_text(event, "auditID"),
        operation=made,
        kind=GroupVersionKind.of(obj or old or {}),
        resource=resource,
        request_resource=resource,
        subresource=subresource,
        name=name,
        namespace=namespace,
        user=_user(event),
        object=None if made == DELETE else obj,
        old_object=None if made == CREATE else old,
        dry_run=dry_run(event),
        cel={},
    )
    found.cel.update(request_variable(found))
    return found


def _user(event: Object) -> UserInfo:
    name = "impersonatedUser" if event.get("impersonatedUser") else "user"
    info = _part(event, name)
    groups, extra = info.get("groups") or [], info.get("extra") or {}
    if not isinstance(groups, list) or not all(isinstance(group, str) for group in groups):
        raise ReviewError(f"{name}.groups: want a list of strings")
    if not isinstance(extra, dict):
        raise ReviewError(f"{name}.extra: want an object")
    return UserInfo(_text(info, "username", f"{name}."), tuple(groups), _text(info, "uid", f"{name}."), extra)


def _part(event: Object, name: str) -> Object:
    part: Any = event.get(name)
    if isinstance(part, dict):
        return part
    raise ReviewError(f"{name}: {'missing' if part is None else 'got no object'}, want an object")


def _text(part: Object, name: str, where: str = "") -> str:
    value = part.get(name)
    if value is None or isinstance(value, str):
        return value or ""
    raise ReviewError(f"{where}{name}: want a string")
