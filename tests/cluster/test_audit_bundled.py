"""The bundled policies on a cluster with a few faults in it, and nothing given but its kubeconfig."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.controlplane.binaries import find
from tests.controlplane.plane import ControlPlane
from webhook.cli import main

OBJECTS = """
apiVersion: v1
kind: Namespace
metadata: {name: cozy-system}
---
apiVersion: v1
kind: Namespace
metadata: {name: cozy-kubevirt}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: cozystack-operator, namespace: cozy-system}
spec:
  selector: {matchLabels: {app: operator}}
  template:
    metadata: {labels: {app: operator}}
    spec: {containers: [{name: operator, image: "ghcr.io/cozystack/cozystack/cozystack-operator:v1.5.2"}]}
---
apiVersion: cozystack.io/v1alpha1
kind: Package
metadata: {name: cozystack.gpu-operator}
spec: {variant: container}
---
apiVersion: cozystack.io/v1alpha1
kind: Package
metadata: {name: cozystack.cert-manager}
spec: {variant: defualt}
---
apiVersion: cozystack.io/v1alpha1
kind: Package
metadata: {name: cozystack.linstor}
spec: {variant: default}
---
apiVersion: cozystack.io/v1alpha1
kind: Package
metadata: {name: cozystack.kubernetes-application}
spec: {variant: kubevirt, components: {kubernetes-fluxcd: {enabled: true}}}  # gone in 1.7
---
apiVersion: cozystack.io/v1alpha1
kind: Package
metadata: {name: cozystack.monitoring-application}
spec: {variant: oidc}  # new in 1.6
---
apiVersion: kubevirt.io/v1
kind: KubeVirt
metadata: {name: kubevirt, namespace: cozy-kubevirt}
spec: {configuration: {developerConfiguration: {featureGates: [HostDevices]}}}
"""


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane of its own: the audit looks at everything in it."""
    file = tmp_path_factory.mktemp("cluster") / "objects.yaml"
    file.write_text(OBJECTS)
    with ControlPlane(find()) as started:
        started.kubectl("apply", "--server-side", "--filename", str(file))
        yield started


def audit(plane: ControlPlane, capsys: pytest.CaptureFixture[str], *flags: str) -> Any:
    main(["audit", "--kubeconfig", str(plane.kubeconfig), "-o", "json", *flags])
    return json.loads(capsys.readouterr().out)


def test_what_is_planted_is_found_and_only_that(plane: ControlPlane, capsys: pytest.CaptureFixture[str]) -> None:
    document = audit(plane, capsys)
    found = {(one["outcome"], one["policy"], one["resource"]["name"], one["field"]) for one in document["results"]}
    assert document["release"] == "1.5"
    assert found == {
        ("deny", "package-variant-known", "cozystack.cert-manager", "spec.variant"),
        ("deny", "package-variant-known", "cozystack.monitoring-application", "spec.variant"),
        (
            "deny",
            "kubevirt-no-host-devices-on-container",
            "kubevirt",
            "spec.configuration.developerConfiguration.featureGates[0]",
        ),
        ("warn", "kubevirt-host-devices-gate", "kubevirt", "spec.configuration.permittedHostDevices"),
    }
    assert (document["inputErrors"], document["policyErrors"]) == ([], [])


def test_an_upgrade_of_this_cluster_is_previewed(plane: ControlPlane, capsys: pytest.CaptureFixture[str]) -> None:
    document = audit(plane, capsys, "--to=1.7")
    turns = {
        turn: [(one["policy"], one["resource"]["name"], one["field"]) for one in document[turn]]
        for turn in document["summary"]
        if turn != "resources" and document[turn]
    }
    assert (document["from"], document["to"]) == ("1.5", "1.7")
    assert turns == {
        "newlyDenied": [
            ("package-components-known", "cozystack.kubernetes-application", "spec.components.kubernetes-fluxcd")
        ],
        "newlyAllowed": [("package-variant-known", "cozystack.monitoring-application", "spec.variant")],
    }
