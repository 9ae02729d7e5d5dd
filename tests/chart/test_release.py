"""install, upgrade and uninstall on a real API server. No pods run there, and nothing waits for them."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from tests.chart.helm import CHART, EVERYTHING, NAMESPACE, RELEASE, Helm, Object
from tests.chart.replica import Pod, Replica
from tests.controlplane.binaries import find
from tests.controlplane.plane import ControlPlane
from tests.controlplane.versions import ControlPlaneError
from tests.e2e.kubectl import PATIENCE, until
from webhook.sources import compiled
from webhook.sources.bundled import bundled

SHELLS = ("validatingwebhookconfigurations", "mutatingwebhookconfigurations")

ROOT = CHART.parents[1]
PAGE = ROOT / "docs" / "install.md"
BROKEN = ROOT / "examples" / "manifests" / "gpu-operator.yaml"

FOREIGN = Path(__file__).parent / "crds"
"""The kinds of cert-manager and of the Prometheus operator, open."""

WEBHOOK: Object = {
    "name": "validate.cozyguard.io",
    "admissionReviewVersions": ["v1"],
    "sideEffects": "None",
    "failurePolicy": "Ignore",
    "clientConfig": {"service": {"namespace": NAMESPACE, "name": RELEASE}},
    "rules": [{"apiGroups": ["e.g"], "apiVersions": ["*"], "resources": ["none"], "operations": ["CREATE"]}],
}


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    """A control plane of its own: a release owns definitions, which others must not have made."""
    with ControlPlane(find()) as started:
        started.install(FOREIGN)
        for name in (NAMESPACE, "cozy-system"):
            started.kubectl("create", "namespace", name)
        yield started


@pytest.fixture(scope="module")
def helm_there(helm: Helm, plane: ControlPlane) -> Helm:
    return replace(helm, kubeconfig=plane.kubeconfig)


@pytest.fixture
def nothing(helm_there: Helm, plane: ControlPlane) -> Iterator[None]:
    """All traces of a release are gone after the test."""
    yield
    _helm(helm_there, "uninstall", "--ignore-not-found")
    plane.kubectl("delete", "crd", "--selector=app.kubernetes.io/name=cozyguard", "--ignore-not-found")
    plane.kubectl("delete", "secrets,leases", "--all", f"--namespace={NAMESPACE}")
    plane.kubectl("delete", "deployments", "--all", "--namespace=cozy-system")


@pytest.fixture
def installed(request: pytest.FixtureRequest, nothing: None, helm_there: Helm) -> str:
    """A release; gives how it was applied."""
    flag: str = getattr(request, "param", "--server-side=true")
    _helm(helm_there, "install", flag)
    return flag


both_ways = pytest.mark.parametrize("installed", ["--server-side=true", "--server-side=false"], indirect=True)
"""As Helm 4 applies, and as Helm 3 does."""


def _helm(helm: Helm, verb: str, *flags: str, chart: Path = CHART, values: Object | None = None) -> str:
    place = () if verb == "uninstall" else (str(chart),)
    return helm(verb, RELEASE, *place, "--namespace", NAMESPACE, *flags, values=values)


def _register(plane: ControlPlane) -> None:
    """Write what the controller writes, as its field manager."""
    for shell in SHELLS:
        patch = json.dumps({"webhooks": [WEBHOOK]})
        plane.kubectl("patch", shell, RELEASE, "--type=merge", "--patch", patch, "--field-manager=cozyguard")


def _registered(plane: ControlPlane) -> list[list[str]]:
    return [[one["name"] for one in _read(plane, shell, RELEASE).get("webhooks", [])] for shell in SHELLS]


def _read(plane: ControlPlane, *what: str) -> Object:
    found: Object = json.loads(plane.kubectl("get", *what, "--output=json"))
    return found


def _generation(plane: ControlPlane) -> int:
    generation: int = _read(plane, "deployment", RELEASE, f"--namespace={NAMESPACE}")["metadata"]["generation"]
    return generation


@pytest.mark.parametrize("values", [{}, EVERYTHING], ids=["default", "everything"])
def test_the_api_server_takes_every_object(helm: Helm, plane: ControlPlane, values: Object, tmp_path: Path) -> None:
    file = tmp_path / "rendered.yaml"
    file.write_text(yaml.safe_dump_all(helm.template(values)))
    applied = plane.kubectl("apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", str(file))
    assert applied.count("serverside-applied") == len(helm.template(values))


@pytest.mark.parametrize("values", [{}, EVERYTHING], ids=["default", "everything"])
def test_the_pods_are_as_restricted_as_can_be(helm: Helm, plane: ControlPlane, values: Object, tmp_path: Path) -> None:
    """The API server's own judgement: a namespace that enforces the Pod Security standard `restricted`."""
    file = tmp_path / "pod.yaml"
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": helm.template(values).pod}
    file.write_text(yaml.safe_dump(pod))
    label = "pod-security.kubernetes.io/enforce=restricted"
    plane.kubectl("label", "namespace", NAMESPACE, label)
    plane.kubectl("create", "--dry-run=server", f"--namespace={NAMESPACE}", "-f", str(file))
    plane.kubectl("label", "namespace", NAMESPACE, f"{label.partition('=')[0]}-")


@both_ways
def test_an_upgrade_leaves_the_registration_alone(installed: str, helm_there: Helm, plane: ControlPlane) -> None:
    _register(plane)
    _helm(helm_there, "upgrade", installed, values={"replicas": 3, "podLabels": {"a": "b"}})
    assert _registered(plane) == [[WEBHOOK["name"]]] * 2
    other = "--server-side=false" if installed.endswith("true") else "--server-side=true"
    _helm(helm_there, "upgrade", other, values={"fullnameOverride": RELEASE, "workers": 2})
    assert _registered(plane) == [[WEBHOOK["name"]]] * 2
    helm_there("rollback", RELEASE, "1", "--namespace", NAMESPACE)
    assert _registered(plane) == [[WEBHOOK["name"]]] * 2


def test_a_replica_with_the_rights_of_the_release_does_all_that_it_is_for(
    nothing: None, helm_there: Helm, plane: ControlPlane, tmp_path: Path
) -> None:
    """Learn the release, keep a certificate, register, deny, tell the state of policies, and let an uninstall be one."""
    plane.kubectl("create", "--filename", str(_written(tmp_path / "operator.yaml", _OPERATOR)))
    _helm(
        helm_there, "install", values={"drainSeconds": 0, "extraPolicies": {"mine.yaml": json.dumps(_policy("mine"))}}
    )
    with Replica(plane, tmp_path) as replica:
        until(lambda: all(_registered(plane)) and "is invalid" in _applied(plane, BROKEN))
        assert replica.release == "1.5"
        assert "[mine]" in _applied(plane, _written(tmp_path / "config.yaml", _CONFIG_MAP))

        plane.kubectl("create", "--filename", str(_written(tmp_path / "policy.yaml", _policy("theirs"))))
        plane.kubectl("wait", "--for=condition=Ready", "--timeout=30s", "admissionpolicy/theirs")

        _helm(helm_there, "upgrade", values={"drainSeconds": 0, "workers": 2})
        assert "is invalid" in _applied(plane, BROKEN)
        assert "forbidden" not in replica.log

        _helm(helm_there, "uninstall")
        until(lambda: "no MutatingWebhookConfiguration `cozyguard`" in replica.log)
        assert plane.kubectl("get", ",".join(SHELLS), "--output=name") == "", "what is deleted is not made anew"
        assert until(lambda: "created" in _applied(plane, BROKEN))


def test_the_audits_account_lists_all_that_the_bundled_policies_are_about_and_its_command_finds_what_is_wrong(
    nothing: None, helm_there: Helm, plane: ControlPlane, tmp_path: Path
) -> None:
    _helm(helm_there, "install", values={"audit": {"enabled": True}})
    plane.kubectl("apply", "--filename", str(BROKEN))
    pod = Pod(plane, tmp_path, f"{RELEASE}-audit")
    job = pod.read("cronjob", f"{RELEASE}-audit")["spec"]["jobTemplate"]["spec"]
    try:
        audit = subprocess.run(
            [sys.executable, "-m", "webhook", *pod.arguments(job["template"])],
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        plane.kubectl("delete", "--filename", str(BROKEN))
    assert audit.returncode == 0, audit.stderr
    assert "Package cozystack.gpu-operator: error: variant `Container` does not exist" in audit.stdout


def test_the_page_leads_from_nothing_to_a_denial(
    nothing: None, helm_there: Helm, plane: ControlPlane, tmp_path: Path
) -> None:
    """The commands of docs/install.md for a machine without a cluster, as they stand there, but for the ports."""
    section = PAGE.read_text().partition("\n## Without a cluster\n")[2].partition("\n## ")[0]
    _, setting_up, denied = re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    *before, serve = setting_up.replace("\\\n", " ").splitlines()
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        port, probe_port = one.getsockname()[1], other.getsockname()[1]
    ports = f" --port {port} --probe-port {probe_port} --drain-seconds 0"
    serve = serve.replace(".venv/bin/cozyguard", f"exec {sys.executable} -m webhook").replace(":8443", f":{port}")
    programs = (helm_there.program, plane.binaries.kubectl)
    path = ":".join([*(str(program.parent) for program in programs), os.environ["PATH"]])
    environment = os.environ | {"KUBECONFIG": str(plane.kubeconfig), "PATH": path}

    for line in before:
        if "create namespace" not in line:
            subprocess.run(line, shell=True, check=True, cwd=ROOT, env=environment, capture_output=True)  # noqa: S602
    compiled.load([bundled()])  # here, where nobody waits for it
    with (tmp_path / "log").open("wb") as log:
        server = subprocess.Popen(serve + ports, shell=True, cwd=ROOT, env=environment, stderr=log)  # noqa: S602
    try:
        words = PAGE.read_text().partition("```text\n")[2].partition("\n```")[0]
        until(lambda: (tmp_path / "log").read_text().count("registration written") == len(SHELLS))
        until(lambda: words in _shown(denied, environment))
    finally:
        server.terminate()
        server.wait(PATIENCE)


def _shown(line: str, environment: dict[str, str]) -> str:
    done = subprocess.run(line, shell=True, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)  # noqa: S602
    return done.stdout + done.stderr


def _written(file: Path, obj: Object) -> Path:
    file.write_text(json.dumps(obj))
    return file


def _applied(plane: ControlPlane, file: Path) -> str:
    """Say what kubectl prints, whether it is let through or refused."""
    try:
        return plane.kubectl("apply", "--dry-run=server", "--filename", str(file))
    except ControlPlaneError as refused:
        return str(refused)


def _policy(name: str) -> Object:
    """A policy that no ConfigMap of the namespace default passes."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]}
    spec = {
        "title": "None here",
        "matchConstraints": {
            "resourceRules": [rule],
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "default"}},
        },
        "validations": [{"expression": "false", "message": "not here"}],
    }
    return {
        "apiVersion": "cozyguard.io/v1alpha1",
        "kind": "AdmissionPolicy",
        "metadata": {"name": name},
        "spec": spec,
    }


_CONFIG_MAP: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "any", "namespace": "default"}}

_OPERATOR: Object = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "cozystack-operator", "namespace": "cozy-system"},
    "spec": {
        "selector": {"matchLabels": {"app": "operator"}},
        "template": {
            "metadata": {"labels": {"app": "operator"}},
            "spec": {
                "containers": [{"name": "operator", "image": "ghcr.io/cozystack/cozystack/cozystack-operator:v1.5.1"}]
            },
        },
    },
}


def test_nothing_that_answers_for_requests_is_left_after_an_uninstall(
    installed: str, helm_there: Helm, plane: ControlPlane
) -> None:
    _register(plane)
    _helm(helm_there, "uninstall")
    assert plane.kubectl("get", ",".join(SHELLS), "--output=name") == ""
    left = plane.kubectl(
        "get",
        "deployments,services,secrets,configmaps,roles,rolebindings,serviceaccounts,networkpolicies,pdb",
        "--all-namespaces",
        "--selector=app.kubernetes.io/name=cozyguard",
        "--output=name",
    )
    assert left == ""


def test_policies_outlive_the_release_and_the_next_one_takes_them_over(
    installed: str, helm_there: Helm, plane: ControlPlane, tmp_path: Path
) -> None:
    file = tmp_path / "exception.yaml"
    file.write_text(json.dumps(_EXCEPTION))
    plane.kubectl("wait", "--for=condition=Established", "crd/policyexceptions.cozyguard.io")
    plane.kubectl("create", "-f", str(file))
    _helm(helm_there, "uninstall")
    assert _read(plane, "policyexceptions", "lab")["spec"]["owner"] == "gpu team"
    _helm(helm_there, "install", installed)
    assert _read(plane, "policyexceptions", "lab")["spec"]["owner"] == "gpu team"


_EXCEPTION: Object = {
    "apiVersion": "cozyguard.io/v1alpha1",
    "kind": "PolicyException",
    "metadata": {"name": "lab"},
    "spec": {
        "policies": [{"name": "package-variant-known"}],
        "match": {"names": ["lab"]},
        "owner": "gpu team",
        "reason": "a build of its own",
        "expiresAt": "2099-12-31T00:00:00Z",
    },
}


@both_ways
def test_an_upgrade_upgrades_the_definitions(
    installed: str, helm_there: Helm, plane: ControlPlane, tmp_path: Path
) -> None:
    newer = tmp_path / "cozyguard"
    shutil.copytree(CHART, newer)
    file = newer / "files" / "crds" / "cozyguard.io_policyexceptions.yaml"
    crd = yaml.safe_load(file.read_text())
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    schema["properties"]["ticket"] = {"type": "string", "maxLength": 100}
    file.write_text(yaml.safe_dump(crd))

    _helm(helm_there, "upgrade", installed, chart=newer)
    now = _read(plane, "crd", "policyexceptions.cozyguard.io")["spec"]["versions"][0]
    assert "ticket" in now["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]


def test_policies_and_modes_change_without_a_restart(installed: str, helm_there: Helm, plane: ControlPlane) -> None:
    policy = {"no-latest.yaml": "kind: AdmissionPolicy\n"}
    _helm(helm_there, "upgrade", installed, values={"extraPolicies": policy})
    before = _generation(plane)
    changed = {"extraPolicies": policy | {"more.yaml": "kind: AdmissionPolicy\n"}, "enforcement": {"mode": "warn"}}
    _helm(helm_there, "upgrade", installed, values=changed)
    assert _generation(plane) == before
    configured = _read(plane, "configmap", RELEASE, f"--namespace={NAMESPACE}")["data"]["cozyguard.yaml"]
    assert yaml.safe_load(configured)["modes"] == [{"policies": ["*"], "mode": "warn"}]


def test_the_account_of_the_pods_may_do_what_it_does_and_no_more(
    installed: str, helm_there: Helm, plane: ControlPlane
) -> None:
    account = f"--as=system:serviceaccount:{NAMESPACE}:{RELEASE}"

    def may(*what: str) -> bool:
        try:
            return plane.kubectl("auth", "can-i", *what, account).strip() == "yes"
        except ControlPlaneError:
            return False

    here = f"--namespace={NAMESPACE}"
    for allowed in (
        ("watch", "packages.cozystack.io"),
        ("patch", f"validatingwebhookconfigurations/{RELEASE}"),
        ("update", f"secrets/{RELEASE}-tls", here),
        ("create", "leases.coordination.k8s.io", here),
        ("list", "deployments.apps/cozystack-operator", "--namespace=cozy-system"),
    ):
        assert may(*allowed), allowed
    for denied in (
        ("get", "secrets", here),
        ("get", "secrets", "--namespace=cozy-system"),
        ("create", "validatingwebhookconfigurations"),
        ("patch", "mutatingwebhookconfigurations/other"),
        ("delete", f"validatingwebhookconfigurations/{RELEASE}"),
        ("update", "packages.cozystack.io"),
        ("create", "leases.coordination.k8s.io", "--namespace=default"),
        ("list", "pods"),
    ):
        assert not may(*denied), denied
