"""Every replica is down, and what is registered says failurePolicy Fail: the ways out that are documented lead out."""

from __future__ import annotations

import json
import shlex
import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.controlplane.binaries import find
from tests.controlplane.plane import ControlPlane
from tests.e2e.kubectl import Kubectl, until
from webhook.cli import main
from webhook.controller.certificates import issue
from webhook.controller.registration import MUTATE, VALIDATE, Endpoint, webhooks, with_bundle
from webhook.controller.rules import registration
from webhook.model.configuration import Configuration
from webhook.sources import catalog, policies

SHELLS = {
    VALIDATE: "ValidatingWebhookConfiguration",
    MUTATE: "MutatingWebhookConfiguration",
}
WRONG = {
    "apiVersion": "cozystack.io/v1alpha1",
    "kind": "Package",
    "metadata": {"name": "cozystack.gpu-operator"},
    "spec": {"variant": "contaner"},
}
MENDED = {**WRONG, "spec": {"variant": "container"}}
BREAK_GLASS = ("--as=admin", "--as-group=cozyguard:break-glass", "--as-group=system:masters")
OFF = "kubectl delete validatingwebhookconfiguration,mutatingwebhookconfiguration cozyguard"
"""As docs/doctor.md has it."""


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    """A control plane of its own: nothing can be changed in it."""
    with ControlPlane(find()) as started:
        yield started


@pytest.fixture
def admin(plane: ControlPlane, tmp_path: Any) -> Kubectl:
    return Kubectl(plane.binaries.kubectl, plane.kubeconfig, tmp_path)


@pytest.fixture
def locked(admin: Kubectl) -> Iterator[Kubectl]:
    """A cluster with a Package that is wrong, in which the bundled policies are registered and no replica is left."""
    assert admin("create", "--filename=-", stdin=WRONG).code == 0
    for document in _registered():
        assert admin("create", "--filename=-", stdin=document).code == 0
    until(lambda: admin("annotate", "package", "cozystack.gpu-operator", "a=b", "--dry-run=server").code == 1)
    yield admin
    assert admin(*shlex.split(OFF)[1:], "--ignore-not-found").code == 0
    until(lambda: admin("delete", "package", "cozystack.gpu-operator", "--ignore-not-found").code == 0)


def _registered() -> Iterator[dict[str, Any]]:
    """Write what the controller registers for the bundled policies, at a port where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        endpoint = Endpoint(namespace="cozyguard", url=f"https://127.0.0.1:{nobody.getsockname()[1]}")
    now = datetime.now(UTC)
    _, authority = issue(endpoint.hosts, now)
    made = registration(policies.load([policies.bundled()]).policies, catalog.newest().version, Configuration(), now)
    for (path, kind), entries in zip(SHELLS.items(), (made.validating, made.mutating), strict=True):
        hooks = webhooks(path, entries, endpoint, Configuration().exempt, "")
        yield {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": kind,
            "metadata": {"name": "cozyguard"},
            "webhooks": with_bundle(hooks, authority),
        }


def test_a_package_cannot_be_changed(locked: Kubectl) -> None:
    shown = locked("replace", "--filename=-", stdin=MENDED)
    assert shown.code == 1
    assert 'failed calling webhook "mutate.cozyguard.io"' in shown.text
    assert "connection refused" in shown.text


def test_who_breaks_the_glass_mends_it(locked: Kubectl) -> None:
    assert locked("replace", "--filename=-", *BREAK_GLASS, stdin=MENDED).code == 0
    stored = locked.stored(MENDED)
    assert stored
    assert stored["spec"]["variant"] == "container"


def test_to_break_the_glass_takes_the_right_to_act_for_others(locked: Kubectl) -> None:
    nobody = ("--as=tenant-1", "--as-group=cozyguard:break-glass")
    shown = locked("replace", "--filename=-", *nobody, stdin=MENDED)
    assert 'packages.cozystack.io "cozystack.gpu-operator" is forbidden' in shown.text


def test_an_administrator_takes_the_webhooks_out_and_all_can_be_changed(locked: Kubectl) -> None:
    shown = locked(*shlex.split(OFF)[1:])
    assert shown.code == 0, shown.text
    assert until(lambda: locked("replace", "--filename=-", stdin=MENDED).code == 0)


def test_what_a_cluster_lives_by_goes_on(locked: Kubectl) -> None:
    """A node registers and reports, leases are renewed, a webhook's own namespace and kube-system can be filled."""
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"}}
    assert locked("create", "--filename=-", "--dry-run=server", stdin=node).code == 0
    lease = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "a", "namespace": "kube-system"},
    }
    assert locked("create", "--filename=-", "--dry-run=server", stdin=lease).code == 0
    pod = ("run", "pod", "--image=example.org/pod:1", "--namespace=kube-system", "--dry-run=server")
    assert locked(*pod).code == 0


def test_the_doctor_says_that_nobody_answers_and_how_to_get_out(
    locked: Kubectl, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "--kubeconfig", str(locked.kubeconfig), "-o", "json"]) == 1
    found = {one["check"]: one for one in json.loads(capsys.readouterr().out)["findings"]}
    assert (
        "connection refused" in found["no-answer"]["message"] or "connect call failed" in found["no-answer"]["message"]
    )
    assert found["replicas-silent"]["level"] == "error"
    assert "break-glass group" in found["replicas-silent"]["fix"]["text"]
    assert {"own-namespace", "kube-system", "node-heartbeat", "leader-election"}.isdisjoint(found)
