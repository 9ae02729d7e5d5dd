"""A server that follows policies and exceptions: what `kubectl apply` writes is in force, without a restart."""

from __future__ import annotations

import json
import re
import ssl
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme

from tests.cluster.documents import EXCEPTION, POLICY
from tests.controlplane.plane import ControlPlane
from tests.e2e.kubectl import until
from tests.faults.replica import Replica
from webhook.sources import crd

NAMESPACE = "installed"
"""Where the Lease of the leader is, who writes the status."""

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {"containers": [{"name": "web", "image": "nginx:latest"}]},
}
REQUEST = {
    "uid": "u",
    "operation": "CREATE",
    "kind": {"version": "v1", "kind": "Pod"},
    "resource": {"version": "v1", "resource": "pods"},
    "name": "web",
    "namespace": "default",
    "userInfo": {"username": "ada"},
    "object": POD,
}


class Server(Replica):
    """A replica that watches the cluster; `--policies` holds a policy of the name that is installed, too."""

    def __init__(self, folder: Path, plane: ControlPlane) -> None:
        authority = trustme.CA()
        leaf = authority.issue_cert("127.0.0.1")
        leaf.private_key_pem.write_to_path(folder / "tls.key")
        leaf.cert_chain_pems[0].write_to_path(folder / "tls.crt")
        (folder / "p.yaml").write_text(POLICY.replace("the image has no version", "says the file"))
        flags = {"tls-cert": folder / "tls.crt", "tls-key": folder / "tls.key", "policies": folder / "p.yaml"}
        where = {"kubeconfig": plane.kubeconfig, "namespace": NAMESPACE, "drain-seconds": 0}
        super().__init__(folder / "log", flags | where)
        self._trust = ssl.create_default_context()
        authority.configure_trust(self._trust)

    def review(self) -> dict[str, Any]:
        """Ask about a pod."""
        body = json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": REQUEST})
        url = f"https://127.0.0.1:{self.port}/validate"
        asked = urllib.request.Request(url, body.encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(asked, context=self._trust, timeout=10) as answer:  # noqa: S310  our own URL
            response: dict[str, Any] = json.load(answer)["response"]
            return response

    def refuses(self, words: str) -> bool:
        """Is the pod refused with these words."""
        return words in self.review().get("status", {}).get("message", "")

    def log(self) -> str:
        return self._log.read_text()

    def metrics(self) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.probe_port}/metrics", timeout=10) as answer:
            text: str = answer.read().decode()
            return text


@pytest.fixture(scope="module")
def installed(control_plane: ControlPlane) -> ControlPlane:
    control_plane.install(crd.FOLDER)
    control_plane.kubectl("create", "namespace", NAMESPACE)
    return control_plane


@pytest.fixture
def plane(installed: ControlPlane) -> Iterator[ControlPlane]:
    yield installed
    installed.kubectl("delete", "--ignore-not-found", "cgp/no-latest", "cge/log-image")


@pytest.fixture
def apply(plane: ControlPlane, tmp_path: Path) -> Callable[[str], None]:
    def write(text: str) -> None:
        (tmp_path / "object.yaml").write_text(text)
        plane.kubectl("apply", "-f", str(tmp_path / "object.yaml"))

    return write


@pytest.fixture
def server(tmp_path: Path, plane: ControlPlane) -> Iterator[Server]:
    made = Server(tmp_path, plane)
    made.launch()
    try:
        made.wait()
        yield made
    finally:
        made.stop()


def test_what_is_applied_is_in_force_and_stays_so_while_a_newer_version_is_invalid(
    server: Server, plane: ControlPlane, apply: Callable[[str], None]
) -> None:
    assert server.refuses("says the file")
    apply(POLICY)
    until(lambda: server.refuses("the image has no version"))
    until(lambda: "Replaces" in plane.kubectl("get", "cgp", "no-latest", "-o", "wide"))

    apply(POLICY.replace("endsWith", "endWith"))
    until(lambda: "no function `endWith`" in plane.kubectl("get", "cgp", "no-latest", "-o", "wide"))
    assert server.refuses("the image has no version")
    assert 'cozyguard_invalid_objects{kind="AdmissionPolicy"} 1.0' in server.metrics()
    assert "admissionpolicy/no-latest:1:25: spec.validations[0].expression: no function `endWith`" in server.log()
    server.stop()
    server.launch()
    server.wait()
    assert server.refuses("the image has no version")

    plane.kubectl("delete", "cgp", "no-latest")
    until(lambda: server.refuses("says the file"))


def test_an_exception_holds_from_apply_to_delete_and_its_use_is_counted(
    server: Server, plane: ControlPlane, apply: Callable[[str], None]
) -> None:
    apply(EXCEPTION)
    until(lambda: server.review()["allowed"])
    assert server.review()["auditAnnotations"] == {"exception": "log-image"}
    assert re.search(
        r'^cozyguard_exceptions_total{exception="log-image",policy="no-latest"} [2-9]', server.metrics(), re.MULTILINE
    )
    until(lambda: "True" in plane.kubectl("get", "cge", "log-image"))
    plane.kubectl("delete", "cge", "log-image")
    until(lambda: server.refuses("says the file"))
