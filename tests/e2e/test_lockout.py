"""Every replica is down, and what is registered says failurePolicy Fail: the ways out that are documented lead out."""

from __future__ import annotations

import json
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.controlplane.binaries import find
from tests.controlplane.plane import ControlPlane
from tests.e2e.kubectl import PATIENCE, Kubectl, Object, until
from webhook.cli import main
from webhook.sources import crd

SHELLS = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
WRONG = {
    "apiVersion": "cozystack.io/v1alpha1",
    "kind": "Package",
    "metadata": {"name": "cozystack.gpu-operator"},
    "spec": {"variant": "contaner"},
}
MENDED = {**WRONG, "spec": {"variant": "container"}}
OFF = "kubectl delete validatingwebhookconfiguration,mutatingwebhookconfiguration cozyguard"
"""As docs/doctor.md has it."""


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    """A control plane of its own: nothing can be changed in it."""
    with ControlPlane(find()) as started:
        started.install(crd.FOLDER)
        started.kubectl("create", "namespace", "cozyguard")
        yield started


@pytest.fixture(scope="module")
def registered(plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> list[Object]:
    """What a server has registered for the bundled policies. It runs no more, and nobody listens in its place.

    While it ran, the doctor had nothing to say.
    """
    folder = tmp_path_factory.mktemp("registered")
    admin = Kubectl(plane.binaries.kubectl, plane.kubeconfig, folder)
    for kind in SHELLS:
        assert admin("create", "--filename=-", stdin=_shell(kind)).code == 0
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([sys.executable, "-m", "webhook", *_serve(plane.kubeconfig)], stderr=log)
    try:
        found: list[Object] = until(lambda: _webhooks(admin))
        assert until(lambda: "nothing to mend" in _doctor(plane.kubeconfig))
        return found
    finally:
        process.terminate()
        process.wait(PATIENCE)
        plane.kubectl("delete", ",".join(SHELLS), "cozyguard")


def _shell(kind: str) -> Object:
    return {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": "cozyguard"}}


def _serve(kubeconfig: Path) -> list[str]:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        port, probe_port = one.getsockname()[1], other.getsockname()[1]
    flags: dict[str, Any] = {
        "kubeconfig": kubeconfig,
        "namespace": "cozyguard",
        "tls-secret": "cozyguard-tls",
        "register": "cozyguard",
        "webhook-url": f"https://127.0.0.1:{port}",
        "host": "127.0.0.1",
        "port": port,
        "probe-port": probe_port,
        "drain-seconds": 0,
    }
    return ["serve", *(f"--{name}={value}" for name, value in flags.items())]


def _doctor(kubeconfig: Path) -> str:
    command = [sys.executable, "-m", "webhook", "doctor", "--kubeconfig", str(kubeconfig)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def _webhooks(admin: Kubectl) -> list[Object]:
    """Give both configurations once both are filled."""
    found = [_shell(kind) | {"webhooks": (admin.stored(_shell(kind)) or {}).get("webhooks")} for kind in SHELLS]
    return found if all(each["webhooks"] for each in found) else []


@pytest.fixture
def admin(plane: ControlPlane, tmp_path: Path) -> Kubectl:
    """The user that the server was, which is never asked about."""
    return Kubectl(plane.binaries.kubectl, plane.kubeconfig, tmp_path)


@pytest.fixture
def locked(admin: Kubectl, registered: list[Object]) -> Iterator[Kubectl]:
    """A Package that is wrong, the bundled policies registered and no replica left: what an administrator can do."""
    alice = admin.acting("alice", "system:masters")
    assert admin("create", "--filename=-", stdin=WRONG).code == 0
    for document in registered:
        assert alice("create", "--filename=-", stdin=document).code == 0
    until(lambda: alice("replace", "--filename=-", "--dry-run=server", stdin=WRONG).code == 1)
    yield alice
    assert alice(*shlex.split(OFF)[1:], "--ignore-not-found").code == 0
    assert admin("delete", "package", "cozystack.gpu-operator").code == 0


def test_a_package_cannot_be_changed(locked: Kubectl) -> None:
    shown = locked("replace", "--filename=-", stdin=MENDED)
    assert shown.code == 1
    assert 'failed calling webhook "mutate.cozyguard.io"' in shown.text
    assert "connection refused" in shown.text


def test_who_breaks_the_glass_mends_it(locked: Kubectl, admin: Kubectl) -> None:
    alice = admin.acting("alice", "cozyguard:break-glass", "system:masters")
    assert alice("replace", "--filename=-", stdin=MENDED).code == 0
    stored = admin.stored(MENDED)
    assert stored
    assert stored["spec"]["variant"] == "container"


def test_to_break_the_glass_gives_no_rights(locked: Kubectl, admin: Kubectl) -> None:
    tenant = admin.acting("tenant-1", "cozyguard:break-glass")
    shown = tenant("replace", "--filename=-", stdin=MENDED)
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
    assert found["no-answer"]["message"].endswith("seen from here: connection refused")
    assert found["replicas-silent"]["level"] == "error"
    assert "break-glass group" in found["replicas-silent"]["fix"]["text"]
    assert {"own-namespace", "kube-system", "node-heartbeat", "leader-election"}.isdisjoint(found)
