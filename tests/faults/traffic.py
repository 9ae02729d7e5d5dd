"""The requests of the load, what the API server is told about them, and what the replicas know."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from tests.e2e.guard import NAMESPACE, ROOT
from tests.e2e.kubectl import Object
from tests.faults.load import Request

TENANT = "tenant-demo"
_RULES = [
    {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps", "pods"], "operations": ["CREATE"]},
    {"apiGroups": ["cozystack.io"], "apiVersions": ["*"], "resources": ["packages"], "operations": ["CREATE"]},
    {
        "apiGroups": ["helm.toolkit.fluxcd.io"],
        "apiVersions": ["*"],
        "resources": ["helmreleases"],
        "operations": ["CREATE"],
    },
]


def requests() -> list[Request]:
    """Give requests to allow, to deny and to patch, by the policies of these tests and by bundled ones."""
    return [
        _config_map("plain", {"colour": "red", "shade": "dark"}),
        _config_map("denied", {"colour": "black"}, denied_by="colours"),
        _config_map("patched", {"colour": "blue"}, made={"data": {"colour": "blue", "shade": "bright"}}),
        _package("container"),
        _package("contaner", denied_by="package-variant-known"),
        _pod(),
        _helm_release(),
    ]


def registration(url: str, authorities: bytes) -> list[Object]:
    """Make the webhook configurations for a server at this URL, whose authorities are in PEM."""
    bundle = base64.b64encode(authorities).decode()
    return [
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": kind,
            "metadata": {"name": "cozyguard"},
            "webhooks": [
                {
                    "name": f"{path}.cozyguard.io",
                    "admissionReviewVersions": ["v1"],
                    "sideEffects": "None",
                    "timeoutSeconds": 5,
                    "failurePolicy": "Fail",
                    "namespaceSelector": _only(NAMESPACE, TENANT),
                    "clientConfig": {"url": f"{url}/{path}", "caBundle": bundle},
                    "rules": _RULES,
                }
            ],
        }
        for kind, path in (("ValidatingWebhookConfiguration", "validate"), ("MutatingWebhookConfiguration", "mutate"))
    ]


def _only(*namespaces: str) -> Object:
    names = {"key": "kubernetes.io/metadata.name", "operator": "In", "values": list(namespaces)}
    return {"matchExpressions": [names]}


def _config_map(name: str, data: dict[str, str], *, denied_by: str = "", made: Object | None = None) -> Request:
    metadata = {"name": name, "namespace": NAMESPACE}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
    return Request(f"/api/v1/namespaces/{NAMESPACE}/configmaps", body, denied_by, made or {"data": data})


def _package(variant: str, *, denied_by: str = "") -> Request:
    metadata = {"name": "cozystack.gpu-operator"}
    body = {
        "apiVersion": "cozystack.io/v1alpha1",
        "kind": "Package",
        "metadata": metadata,
        "spec": {"variant": variant},
    }
    return Request("/apis/cozystack.io/v1alpha1/packages", body, denied_by)


def _pod() -> Request:
    containers = [{"name": "web", "image": "example.org/web:1"}]
    metadata = {"name": "plain", "namespace": NAMESPACE}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": containers}}
    return Request(f"/api/v1/namespaces/{NAMESPACE}/pods", body)


def _helm_release() -> Request:
    """Create what the example of a patch updates."""
    review = json.loads(Path(ROOT / "examples" / "reviews" / "patch.json").read_text())
    body = review["request"]["object"]
    body["metadata"] = {key: body["metadata"][key] for key in ("name", "namespace", "labels")}
    made = {"spec": {"values": {"kernelModuleConfig": {"create": True}}}}
    return Request(f"/apis/helm.toolkit.fluxcd.io/v2/namespaces/{TENANT}/helmreleases", body, made=made)
