"""Requests that a cluster lives by, as the API server would send them to a webhook: who asks, for what, where."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from webhook.admission.synthesize import Circumstances, synthesize
from webhook.model.request import CREATE, DELETE, UPDATE, AdmissionRequest, GroupVersionKind, Object, UserInfo
from webhook.sources.objects import NAME_LABEL


def _user(name: str, *groups: str) -> UserInfo:
    return UserInfo(name, (*groups, "system:authenticated"))


def account(namespace: str, name: str) -> UserInfo:
    """Give the user that a service account is."""
    own = f"system:serviceaccounts:{namespace}"
    return _user(f"system:serviceaccount:{namespace}:{name}", "system:serviceaccounts", own)


KUBELET: Final = _user("system:node:node-1", "system:nodes")
SCHEDULER: Final = _user("system:kube-scheduler")
MANAGER: Final = _user("system:kube-controller-manager")
ADMINISTRATOR: Final = _user("kubernetes-admin", "system:masters")
API_SERVER: Final = _user("system:apiserver", "system:masters")


@dataclass(frozen=True, slots=True)
class Sample:
    """One request. `resource` is the plural, with its subresource behind a slash; `body` is more of the object."""

    operation: str
    api_version: str
    kind: str
    resource: str
    user: UserInfo
    namespace: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)

    def request(self) -> AdmissionRequest:
        """Make the request."""
        plural, _, subresource = self.resource.partition("/")
        metadata: Object = {"name": self.namespace if self.kind == "Namespace" else "sample"}
        if self.namespace and self.kind != "Namespace":
            metadata["namespace"] = self.namespace
        if self.labels:
            metadata["labels"] = self.labels
        obj = {"apiVersion": self.api_version, "kind": self.kind, "metadata": metadata, **self.body}
        circumstances = Circumstances(self.operation, self.namespace, subresource, self.user)
        served = _Served(plural, bool(self.namespace))
        return synthesize(obj, served, circumstances, obj if self.operation == UPDATE else None)


@dataclass(frozen=True, slots=True)
class _Served:
    """How the sample's kind is served: what synthesize asks."""

    plural: str
    is_namespaced: bool

    def resource(self, kind: GroupVersionKind) -> str:  # noqa: ARG002 - it is one kind
        return self.plural

    def namespaced(self, kind: GroupVersionKind) -> bool | None:  # noqa: ARG002 - it is one kind
        return self.is_namespaced


_CONTAINERS: Final = {"containers": [{"name": "main", "image": "example.org/main:1"}]}


def coming_up(namespace: str, labels: dict[str, str]) -> tuple[Sample, ...]:
    """All that has to happen in a namespace before a pod of a Deployment, with these labels, answers there."""
    controller = {name: account("kube-system", f"{name}-controller") for name in _CONTROLLERS}
    pod = ("v1", "Pod")
    template = {"spec": {"template": {"metadata": {"labels": labels}, "spec": _CONTAINERS}}}
    return (
        Sample(UPDATE, "apps/v1", "Deployment", "deployments", ADMINISTRATOR, namespace, labels, template),
        Sample(CREATE, "apps/v1", "ReplicaSet", "replicasets", controller["deployment"], namespace, labels, template),
        Sample(CREATE, *pod, "pods", controller["replicaset"], namespace, labels, {"spec": _CONTAINERS}),
        Sample(CREATE, "v1", "Binding", "pods/binding", SCHEDULER, namespace),
        Sample(CREATE, "authentication.k8s.io/v1", "TokenRequest", "serviceaccounts/token", KUBELET, namespace),
        Sample(UPDATE, *pod, "pods/status", KUBELET, namespace, labels, {"spec": _CONTAINERS}),
        Sample(
            UPDATE,
            "discovery.k8s.io/v1",
            "EndpointSlice",
            "endpointslices",
            controller["endpointslice"],
            namespace,
        ),
    )


_CONTROLLERS: Final = ("deployment", "replicaset", "endpointslice")


def lease(namespace: str, user: UserInfo) -> Sample:
    """Renew a lease."""
    return Sample(UPDATE, "coordination.k8s.io/v1", "Lease", "leases", user, namespace)


def namespace_controller_deletes(api_version: str, resource: str, namespace: str) -> Sample:
    """Delete an object because its namespace goes; nobody here knows the kind of every resource."""
    return Sample(DELETE, api_version, "Object", resource, account("kube-system", "namespace-controller"), namespace)


def of_namespace(operation: str, subresource: str, user: UserInfo) -> Sample:
    """Do something to a Namespace, which carries its own name as a label."""
    name = "tenant-example"
    resource = f"namespaces/{subresource}" if subresource else "namespaces"
    return Sample(operation, "v1", "Namespace", resource, user, name, {NAME_LABEL: name})
