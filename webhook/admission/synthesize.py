"""The request that the API server would have sent for an object: for files, and for live objects.

What a file does not tell stays unknown, above all the user: nothing is invented that a rule could
mistake for a fact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

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

_UID: Final = "00000000-0000-0000-0000-000000000000"
_OPTIONS: Final = {CREATE: "CreateOptions", UPDATE: "UpdateOptions", DELETE: "DeleteOptions"}


class Resources(Protocol):
    """Tells how a kind is served: its plural, and whether it lives in a namespace (None: nobody knows)."""

    def resource(self, kind: GroupVersionKind) -> str:
        """The plural, lower-case name."""

    def namespaced(self, kind: GroupVersionKind) -> bool | None:
        """Does the kind live in a namespace."""


@dataclass(frozen=True, slots=True)
class Circumstances:
    """All of a request that its object does not tell.

    `namespace` is where an object without one is put, as by `kubectl -n`; `user` is None when
    nobody knows who will apply the object.
    """

    operation: str = CREATE
    namespace: str = "default"
    subresource: str = ""
    user: UserInfo | None = None
    dry_run: bool = False


def synthesize(
    obj: Object, resources: Resources, circumstances: Circumstances, old: Object | None = None
) -> AdmissionRequest:
    """Make the request. `obj` is the object applied, or on DELETE the one that goes; `old` is for UPDATE."""
    kind = GroupVersionKind.of(obj)
    resource = GroupVersionResource(kind.group, kind.version, resources.resource(kind))
    namespace = _namespace(obj, resources.namespaced(kind), circumstances.namespace)
    operation = circumstances.operation
    new = _placed(obj, namespace)
    old = new if operation == DELETE else _placed(old, namespace) if old is not None else None
    metadata = obj.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    request = AdmissionRequest(
        uid=_UID,
        operation=operation,
        kind=kind,
        resource=resource,
        request_resource=resource,
        subresource=circumstances.subresource,
        name=name if isinstance(name, str) else "",
        namespace=namespace,
        user=circumstances.user,
        object=None if operation == DELETE else new,
        old_object=old,
        dry_run=circumstances.dry_run,
        cel={},
    )
    request.cel.update(request_variable(request))
    return request


def _namespace(obj: Object, namespaced: bool | None, default: str) -> str:
    metadata = obj.get("metadata")
    written = metadata.get("namespace") if isinstance(metadata, dict) else None
    if GroupVersionKind.of(obj).kind == "Namespace":
        return str(metadata.get("name") or "") if isinstance(metadata, dict) else ""
    if namespaced is False:
        return ""
    if isinstance(written, str) and written:
        return written
    return default if namespaced else ""


def _placed(obj: Object, namespace: str) -> Object:
    """Write the namespace into an object that leaves it out, as the API server does before admission."""
    metadata = obj.get("metadata")
    if not namespace or not isinstance(metadata, dict) or metadata.get("namespace") or obj.get("kind") == "Namespace":
        return obj
    return {**obj, "metadata": {**metadata, "namespace": namespace}}


def request_variable(request: AdmissionRequest) -> Object:
    """Write the CEL variable `request` as Kubernetes does, where fields that are empty are left out."""
    kind, resource = request.kind, request.resource
    kinds = {"group": kind.group, "version": kind.version, "kind": kind.kind}
    resources = {"group": resource.group, "version": resource.version, "resource": resource.resource}
    said: Object = {
        "kind": kinds,
        "resource": resources,
        "requestKind": kinds,
        "requestResource": resources,
        "operation": request.operation,
        "dryRun": request.dry_run,
        "options": {"apiVersion": "meta.k8s.io/v1", "kind": _OPTIONS.get(request.operation, "CreateOptions")},
    }
    if request.subresource:
        said["subResource"] = said["requestSubResource"] = request.subresource
    if request.name:
        said["name"] = request.name
    if request.namespace:
        said["namespace"] = request.namespace
    if (user := request.user) is not None:
        said["userInfo"] = {"username": user.username, "groups": list(user.groups)}
        if user.uid:
            said["userInfo"]["uid"] = user.uid
        if user.extra:
            said["userInfo"]["extra"] = user.extra
    return said
