"""What a cluster lives by, and what follows when it waits for a webhook that does not answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from webhook.model.diagnosis import Level
from webhook.model.request import CREATE, DELETE, UPDATE
from webhook.runs.doctor.samples import (
    ADMINISTRATOR,
    API_SERVER,
    KUBELET,
    MANAGER,
    SCHEDULER,
    Sample,
    account,
    lease,
    of_namespace,
)

INFRASTRUCTURE: Final = {
    "cozy-cilium": "the network",
    "cozy-kubeovn": "the network",
    "cozy-multus": "the network",
    "cozy-metallb": "load balancers",
    "cozy-linstor": "storage",
    "cozy-cert-manager": "certificates",
    "cozy-fluxcd": "Flux",
    "cozy-system": "operators of Cozystack",
}
"""Namespaces of a Cozystack cluster whose pods others need before they can start."""


@dataclass(frozen=True, slots=True)
class Danger:
    """Requests that must not wait for a webhook. `waits`: not even for the timeout of one under Ignore."""

    check: str
    level: Level
    samples: tuple[Sample, ...]
    why: str
    waits: bool = False


DANGERS: Final = (
    Danger(
        "node-heartbeat",
        Level.ERROR,
        (
            lease("kube-node-lease", KUBELET),
            Sample(UPDATE, "v1", "Node", "nodes/status", KUBELET),
            Sample(CREATE, "v1", "Node", "nodes", KUBELET),
        ),
        "kubelets cannot report: nodes become NotReady, and their pods are evicted",
        waits=True,
    ),
    Danger(
        "leader-election",
        Level.ERROR,
        (lease("kube-system", MANAGER), lease("kube-system", SCHEDULER)),
        "kube-controller-manager and kube-scheduler lose their leases and stop: nothing in the cluster is mended",
        waits=True,
    ),
    Danger(
        "token-reviews",
        Level.ERROR,
        (
            Sample(CREATE, "authentication.k8s.io/v1", "TokenReview", "tokenreviews", KUBELET),
            Sample(CREATE, "authorization.k8s.io/v1", "SubjectAccessReview", "subjectaccessreviews", KUBELET),
            Sample(
                CREATE, "authorization.k8s.io/v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews", ADMINISTRATOR
            ),
        ),
        "kubelets, aggregated APIs and whoever else asks the API server who somebody is refuse everybody",
        waits=True,
    ),
    Danger(
        "events",
        Level.WARNING,
        (
            Sample(CREATE, "v1", "Event", "events", KUBELET, "default"),
            Sample(CREATE, "events.k8s.io/v1", "Event", "events", SCHEDULER, "default"),
        ),
        "events, by which people find out what is wrong, are lost; and there are more of them than of all else",
    ),
    Danger(
        "namespace-deletion",
        Level.WARNING,
        (
            of_namespace(UPDATE, "finalize", account("kube-system", "namespace-controller")),
            of_namespace(DELETE, "", ADMINISTRATOR),
        ),
        "no namespace can be deleted: those that are being deleted stay Terminating",
    ),
    Danger(
        "crds",
        Level.WARNING,
        (
            Sample(
                UPDATE,
                "apiextensions.k8s.io/v1",
                "CustomResourceDefinition",
                _CRDS := "customresourcedefinitions",
                ADMINISTRATOR,
            ),
            Sample(
                UPDATE,
                "apiextensions.k8s.io/v1",
                "CustomResourceDefinition",
                "customresourcedefinitions/status",
                API_SERVER,
            ),
        ),
        "no CRD can be installed or become Established: operators, and repairs that bring one, cannot be installed",
    ),
    Danger(
        "apiservices",
        Level.WARNING,
        (
            Sample(UPDATE, "apiregistration.k8s.io/v1", "APIService", "apiservices", ADMINISTRATOR),
            Sample(UPDATE, "apiregistration.k8s.io/v1", "APIService", "apiservices/status", API_SERVER),
        ),
        "aggregated APIs, such as apps.cozystack.io, can neither be mended nor taken out",
    ),
    Danger(
        "rbac",
        Level.WARNING,
        (
            Sample(UPDATE, "rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", API_SERVER),
            Sample(CREATE, "rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings", ADMINISTRATOR),
        ),
        "nobody can be given rights to mend the cluster, and an API server that starts cannot mend its own roles",
    ),
)
