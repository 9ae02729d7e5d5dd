from __future__ import annotations

from typing import Any

import pytest

from webhook.admission.plurals import Plurals
from webhook.model.request import GroupVersionKind


@pytest.mark.parametrize(
    ("group", "kind", "plural"),
    [
        ("", "Pod", "pods"),
        ("", "Endpoints", "endpoints"),
        ("discovery.k8s.io", "EndpointSlice", "endpointslices"),
        ("networking.k8s.io", "NetworkPolicy", "networkpolicies"),
        ("networking.k8s.io", "Ingress", "ingresses"),
        ("networking.k8s.io", "IngressClass", "ingressclasses"),
        ("storage.k8s.io", "StorageClass", "storageclasses"),
        ("gateway.networking.k8s.io", "Gateway", "gateways"),
        ("apps.cozystack.io", "Kubernetes", "kuberneteses"),
        ("apps.cozystack.io", "KubernetesNodes", "kubernetesnodeses"),
        ("apps.cozystack.io", "VMInstance", "vminstances"),
        ("apps.cozystack.io", "VMDisk", "vmdisks"),
        ("apps.cozystack.io", "Postgres", "postgreses"),
        ("apps.cozystack.io", "ExternalDNS", "externaldns"),
        ("apps.cozystack.io", "HTTPCache", "httpcaches"),
        ("apps.cozystack.io", "OpenBAO", "openbaos"),
        ("cozystack.io", "Package", "packages"),
        ("cozystack.io", "PackageSource", "packagesources"),
        ("cozystack.io", "ApplicationDefinition", "applicationdefinitions"),
        ("helm.toolkit.fluxcd.io", "HelmRelease", "helmreleases"),
        ("kubevirt.io", "KubeVirt", "kubevirts"),
        ("kubevirt.io", "VirtualMachine", "virtualmachines"),
        ("nvidia.com", "ClusterPolicy", "clusterpolicies"),
        ("bootstrap.cluster.x-k8s.io", "KubeadmConfigTemplate", "kubeadmconfigtemplates"),
        ("vpc.example.org", "Prefix", "prefixes"),
    ],
)
def test_a_kind_has_the_plural_that_the_api_server_serves(group: str, kind: str, plural: str) -> None:
    assert Plurals().resource(GroupVersionKind(group, "v1", kind)) == plural


@pytest.mark.parametrize(
    ("group", "kind", "namespaced"),
    [
        ("", "Pod", True),
        ("", "Namespace", False),
        ("apps", "Deployment", True),
        ("apps.cozystack.io", "Kubernetes", True),
        ("cozystack.io", "Package", False),
        ("kubevirt.io", "KubeVirt", True),
        ("rbac.authorization.k8s.io", "Role", True),
        ("rbac.authorization.k8s.io", "ClusterRole", False),
        ("example.org", "Mouse", None),
    ],
)
def test_a_kind_lives_in_namespaces_or_not_or_nobody_knows(group: str, kind: str, namespaced: bool | None) -> None:
    assert Plurals().namespaced(GroupVersionKind(group, "v1", kind)) is namespaced


def crd(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": spec}


def test_a_crd_at_hand_wins_over_table_and_rule() -> None:
    plurals = Plurals([crd(group="cozystack.io", names={"kind": "Package", "plural": "packs"}, scope="Namespaced")])
    kind = GroupVersionKind("cozystack.io", "v1alpha1", "Package")
    assert (plurals.resource(kind), plurals.namespaced(kind)) == ("packs", True)


def test_a_crd_speaks_for_its_own_group_only() -> None:
    plurals = Plurals([crd(group="example.org", names={"kind": "Pod", "plural": "podz"}, scope="Cluster")])
    assert plurals.resource(GroupVersionKind("", "v1", "Pod")) == "pods"


@pytest.mark.parametrize(
    "spec", [{}, {"group": 1}, {"group": "a", "names": None}, {"group": "a", "names": {"kind": "B"}}]
)
def test_a_broken_crd_says_nothing(spec: dict[str, Any]) -> None:
    assert Plurals([crd(**spec)]).resource(GroupVersionKind("a", "v1", "B")) == "bs"
