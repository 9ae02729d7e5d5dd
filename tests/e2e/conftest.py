"""One control plane and one registered server for all end-to-end tests.

`COZYGUARD_E2E_KUBECONFIG` names the kubeconfig of a control plane that runs already, such as `make controlplane`
prints; it is never taken from KUBECONFIG, as the tests register webhooks and make objects.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.controlplane.binaries import kubectl as find_kubectl
from tests.controlplane.plane import ControlPlane
from tests.e2e.guard import NAMESPACE, Guard, example_world
from tests.e2e.kubectl import Kubectl, Object, target, until

NAMESPACES = ("cozy-kubevirt", "tenant-demo", NAMESPACE)


@pytest.fixture(scope="session")
def administrator(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Kubectl:
    """A kubectl for the whole session, with the namespaces that tests use."""
    folder = tmp_path_factory.mktemp("administrator")
    if given := os.environ.get("COZYGUARD_E2E_KUBECONFIG"):
        made = Kubectl(find_kubectl(), Path(given), folder)
    else:
        plane: ControlPlane = request.getfixturevalue("control_plane")
        made = Kubectl(plane.binaries.kubectl, plane.kubeconfig, folder)
    for name in NAMESPACES:
        made.unseen()("create", "namespace", name)
    return made


@pytest.fixture(scope="session")
def registered(administrator: Kubectl, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guard]:
    """The server, registered for as long as the tests run; in force when a test gets it."""
    guard = Guard(tmp_path_factory.mktemp("guard"))
    documents = guard.registration()
    try:
        guard.serve(example_world())
        for document in documents:
            administrator.make(document)
        until(lambda: _in_force(administrator))
        yield guard
    finally:
        for document in documents:
            administrator.forget(document)
        guard.stop()


def _in_force(kubectl: Kubectl) -> bool:
    """Ask whether both webhooks are called: a webhook takes up to a second to be."""
    probe = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "probe", "namespace": NAMESPACE}}
    denied = kubectl.apply(probe | {"data": {"colour": "black"}}, "--dry-run=server")
    patched = kubectl.apply(probe | {"data": {"colour": "blue"}}, "--dry-run=server")
    return denied.code != 0 and bool(patched.warnings)


@pytest.fixture
def guard(registered: Guard) -> Guard:
    """The server, knowing the cluster of the examples."""
    registered.serve(example_world())
    return registered


@pytest.fixture
def kubectl_anew(administrator: Kubectl, tmp_path: Path) -> Kubectl:
    """A kubectl in a folder of the test's own."""
    return replace(administrator, folder=tmp_path)


@pytest.fixture
def kubectl(guard: Guard, kubectl_anew: Kubectl) -> Kubectl:
    """A kubectl whose requests are reviewed."""
    return kubectl_anew


@pytest.fixture
def keep(administrator: Kubectl) -> Iterator[Callable[[Object], Object]]:
    """Have an object forgotten after the test, whoever makes it."""
    kept: dict[tuple[str, ...], Object] = {}

    def note(obj: Object) -> Object:
        kept[target(obj)] = obj
        return obj

    yield note
    for obj in kept.values():
        administrator.forget(obj)


@pytest.fixture
def package(keep: Callable[[Object], Object]) -> Callable[..., Object]:
    """Make the Package of the GPU operator, with some spec."""

    def make(**spec: object) -> Object:
        metadata = {"name": "cozystack.gpu-operator"}
        return keep({"apiVersion": "cozystack.io/v1alpha1", "kind": "Package", "metadata": metadata, "spec": spec})

    return make


@pytest.fixture
def config_map(keep: Callable[[Object], Object]) -> Callable[..., Object]:
    """Make a ConfigMap with some data."""

    def make(name: str = "settings", **data: str) -> Object:
        metadata = {"name": name, "namespace": NAMESPACE}
        return keep({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})

    return make


@pytest.fixture
def kubevirt(keep: Callable[[Object], Object]) -> Callable[..., Object]:
    """Make the KubeVirt object, with feature gates and with cards that VMs may have."""

    def make(*gates: str, cards: list[tuple[str, str]] | None = None) -> Object:
        devices = [
            {"pciVendorSelector": selector, "resourceName": f"nvidia.com/{name}"} for selector, name in cards or ()
        ]
        configuration: Object = {"developerConfiguration": {"featureGates": list(gates)}}
        if devices:
            configuration["permittedHostDevices"] = {"pciHostDevices": devices}
        metadata = {"name": "kubevirt", "namespace": "cozy-kubevirt"}
        spec = {"configuration": configuration}
        return keep({"apiVersion": "kubevirt.io/v1", "kind": "KubeVirt", "metadata": metadata, "spec": spec})

    return make


@pytest.fixture
def deployment(keep: Callable[[Object], Object]) -> Callable[..., Object]:
    """Make a Deployment; nothing runs its pods."""

    def make(replicas: int) -> Object:
        labels = {"app": "web"}
        pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "web", "image": "example.org/web:1"}]}}
        spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": pod}
        metadata = {"name": "web", "namespace": NAMESPACE}
        return keep({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec})

    return make
