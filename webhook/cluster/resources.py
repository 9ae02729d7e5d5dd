"""Which resources of the Kubernetes API there are, and at which paths they are had."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource in one version: the core group is "", `plural` the name in paths, `verbs` what it can do if known."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool
    verbs: frozenset[str] = field(default=frozenset(), compare=False)

    @property
    def api_version(self) -> str:
        """As it is written in a manifest: `group/version`, or the version alone."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def full_name(self) -> str:
        """As kubectl and RBAC's messages write it: `packages.cozystack.io`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """Give the path of an object, or of a collection: of all namespaces where none is named."""
        root = ("apis", self.group, self.version) if self.group else ("api", self.version)
        place = ("namespaces", namespace) if namespace and self.namespaced else ()
        parts = (*root, *place, self.plural, name, *subresource.split("/"))
        return "/" + "/".join(quote(part, safe="") for part in parts if part)


NAMESPACES: Final = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
SECRETS: Final = Resource("", "v1", "secrets", "Secret", namespaced=True)
CONFIG_MAPS: Final = Resource("", "v1", "configmaps", "ConfigMap", namespaced=True)
NODES: Final = Resource("", "v1", "nodes", "Node", namespaced=False)
PODS: Final = Resource("", "v1", "pods", "Pod", namespaced=True)
SERVICES: Final = Resource("", "v1", "services", "Service", namespaced=True)
EVENTS: Final = Resource("events.k8s.io", "v1", "events", "Event", namespaced=True)
DEPLOYMENTS: Final = Resource("apps", "v1", "deployments", "Deployment", namespaced=True)
LEASES: Final = Resource("coordination.k8s.io", "v1", "leases", "Lease", namespaced=True)
VALIDATING_WEBHOOKS: Final = Resource(
    "admissionregistration.k8s.io",
    "v1",
    "validatingwebhookconfigurations",
    "ValidatingWebhookConfiguration",
    namespaced=False,
)
MUTATING_WEBHOOKS: Final = Resource(
    "admissionregistration.k8s.io",
    "v1",
    "mutatingwebhookconfigurations",
    "MutatingWebhookConfiguration",
    namespaced=False,
)
CUSTOM_RESOURCES: Final = Resource(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False
)
ACCESS_REVIEWS: Final = Resource(
    "authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", namespaced=False
)
SUBJECT_ACCESS_REVIEWS: Final = Resource(
    "authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview", namespaced=False
)
PACKAGES: Final = Resource("cozystack.io", "v1alpha1", "packages", "Package", namespaced=False)
PACKAGE_SOURCES: Final = Resource("cozystack.io", "v1alpha1", "packagesources", "PackageSource", namespaced=False)
ADMISSION_POLICIES: Final = Resource(
    "cozyguard.io", "v1alpha1", "admissionpolicies", "AdmissionPolicy", namespaced=False
)
POLICY_EXCEPTIONS: Final = Resource("cozyguard.io", "v1alpha1", "policyexceptions", "PolicyException", namespaced=False)
