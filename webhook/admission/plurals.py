"""How a kind is served: its plural name in URLs and rules, and whether its objects live in a namespace.

CRDs at hand tell first, then the table of what Kubernetes and Cozystack ship, then the English rule, which is also
the guess of `meta.UnsafeGuessKindToResource` in apimachinery.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from webhook.model.request import GroupVersionKind, Object

_PLURALS: Final = {
    "endpoints": "endpoints",
    "externaldns": "externaldns",
    "hardware": "hardware",
    "velero": "veleroes",
    "vlogs": "vlogs",
    "vmdistributed": "vmdistributed",
}
"""Kinds that the English rule gets wrong, in lower case: of Kubernetes, and of CRDs that Cozystack installs."""

_SIBILANT: Final = re.compile(r"(?:s|x|z|ch|sh)$")
_CONSONANT_Y: Final = re.compile(r"(?<=[^aeiou])y$")

_CLUSTER_SCOPED: Final = {
    "": "ComponentStatus Namespace Node PersistentVolume",
    "admissionregistration.k8s.io": (
        "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration "
        "ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration"
    ),
    "apiextensions.k8s.io": "CustomResourceDefinition",
    "apiregistration.k8s.io": "APIService",
    "authentication.k8s.io": "SelfSubjectReview TokenReview",
    "authorization.k8s.io": "SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
    "certificates.k8s.io": "CertificateSigningRequest ClusterTrustBundle",
    "flowcontrol.apiserver.k8s.io": "FlowSchema PriorityLevelConfiguration",
    "networking.k8s.io": "IPAddress IngressClass ServiceCIDR",
    "node.k8s.io": "RuntimeClass",
    "rbac.authorization.k8s.io": "ClusterRole ClusterRoleBinding",
    "resource.k8s.io": "DeviceClass ResourceSlice",
    "scheduling.k8s.io": "PriorityClass",
    "storage.k8s.io": "CSIDriver CSINode StorageClass VolumeAttachment VolumeAttributesClass",
    "cozyguard.io": "AdmissionPolicy PolicyException",
    "cozystack.io": "ApplicationDefinition Package PackageSource",
}
_NAMESPACED: Final = {
    "": (
        "Binding ConfigMap Endpoints Event LimitRange PersistentVolumeClaim Pod PodTemplate "
        "ReplicationController ResourceQuota Secret Service ServiceAccount"
    ),
    "kubevirt.io": "KubeVirt VirtualMachine VirtualMachineInstance VirtualMachineInstanceReplicaSet",
    "helm.toolkit.fluxcd.io": "HelmRelease",
    "authorization.k8s.io": "LocalSubjectAccessReview",
    "networking.k8s.io": "Ingress NetworkPolicy",
    "rbac.authorization.k8s.io": "Role RoleBinding",
    "resource.k8s.io": "ResourceClaim ResourceClaimTemplate",
    "storage.k8s.io": "CSIStorageCapacity",
}
_NAMESPACED_GROUPS: Final = frozenset(
    {
        "apps",
        "apps.cozystack.io",
        "autoscaling",
        "batch",
        "coordination.k8s.io",
        "discovery.k8s.io",
        "events.k8s.io",
        "extensions",
        "policy",
    }
)
"""Groups all of whose kinds live in namespaces."""


class Plurals:
    """Answers for the kinds of the CRDs given, and for those that everybody has."""

    def __init__(self, crds: Iterable[Object] = ()) -> None:
        """Take what CRDs say; objects of other kinds, and CRDs that are broken, say nothing."""
        self._known: dict[tuple[str, str], tuple[str, bool]] = {}
        for crd in crds:
            if crd.get("kind") == "CustomResourceDefinition":
                self._learn(crd.get("spec"))

    def resource(self, kind: GroupVersionKind) -> str:
        """Give the plural, lower-case name: `packages` for Package."""
        if known := self._known.get((kind.group, kind.kind)):
            return known[0]
        name = kind.kind.lower()
        if name in _PLURALS:
            return _PLURALS[name]
        if _SIBILANT.search(name):
            return f"{name}es"
        plural, changed = _CONSONANT_Y.subn("ies", name)
        return plural if changed else f"{name}s"

    def namespaced(self, kind: GroupVersionKind) -> bool | None:
        """Do objects of a kind live in namespaces; None when nobody here knows."""
        if known := self._known.get((kind.group, kind.kind)):
            return known[1]
        if kind.kind in _CLUSTER_SCOPED.get(kind.group, "").split():
            return False
        if kind.group in _NAMESPACED_GROUPS or kind.kind in _NAMESPACED.get(kind.group, "").split():
            return True
        return None

    def _learn(self, spec: object) -> None:
        match spec:
            case {"group": str(group), "names": {"kind": str(kind), "plural": str(plural)}, "scope": scope}:
                self._known[group, kind] = (plural, scope == "Namespaced")


def is_cluster_scoped(group: str, resource: str) -> bool:
    """Is a resource, by its plural, one of those above that live outside namespaces."""
    known = Plurals()
    kinds = (GroupVersionKind(group, "", kind) for kind in _CLUSTER_SCOPED.get(group, "").split())
    return any(known.resource(kind) == resource for kind in kinds)
