"""The doctor of a real cluster, in which no pods run: what pods would leave behind is written in their place."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.chart.helm import NAMESPACE, RELEASE, Helm, Rendered
from tests.controlplane.binaries import find
from tests.controlplane.binaries import helm as find_helm
from tests.controlplane.plane import ControlPlane
from webhook.cli import main
from webhook.controller.certificates import fingerprint, issue
from webhook.controller.keyring import Keyring
from webhook.controller.registration import MUTATE, VALIDATE, Endpoint, webhooks, with_bundle
from webhook.controller.rules import registration
from webhook.model.configuration import Configuration
from webhook.sources import catalog, policies

Object = dict[str, Any]
SHELLS = ("validatingwebhookconfiguration", "mutatingwebhookconfiguration")
ENDPOINT = Endpoint(namespace=NAMESPACE)
PODS = "system:serviceaccount:cozyguard:cozyguard"


class Cluster:
    """A cluster with the chart in it, and the doctor of it."""

    def __init__(self, plane: ControlPlane, rendered: Rendered, capsys: pytest.CaptureFixture[str]) -> None:
        self.plane = plane
        self.rendered = rendered
        self._capsys = capsys

    def doctor(self, *flags: str, kubeconfig: Path | None = None) -> tuple[int, str, str]:
        """Run the command; gives the exit code and what it printed."""
        self._capsys.readouterr()
        code = main(["doctor", "--kubeconfig", str(kubeconfig or self.plane.kubeconfig), *flags])
        out, err = self._capsys.readouterr()
        return code, out, err

    def found(self) -> dict[str, Object]:
        """Give the findings, by their check; every one is of an object that is ours."""
        _, out, _ = self.doctor("-o", "json")
        return {one["check"]: one for one in json.loads(out)["findings"]}

    def apply(self, *objects: Object, status: bool = False) -> None:
        """Write objects as whoever runs pods would."""
        for obj in objects:
            file = self.plane.kubeconfig.parent / "object.json"
            file.write_text(json.dumps(obj))
            flags = ("--subresource=status",) if status else ()
            self.plane.kubectl("apply", "--server-side", "--force-conflicts", *flags, "--filename", str(file))

    def patch(self, kind: str, patch: Object) -> None:
        self.plane.kubectl("patch", kind, RELEASE, "--type=merge", "--patch", json.dumps(patch))


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    """A control plane of its own: the doctor looks at everything in it."""
    with ControlPlane(find()) as started:
        started.kubectl("create", "namespace", NAMESPACE)
        started.kubectl("create", "namespace", "cozy-system")
        yield started


@pytest.fixture(scope="module")
def rendered(plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Rendered:
    """The chart's objects, which are in the cluster, too."""
    rendered = Helm(find_helm(), tmp_path_factory.mktemp("helm")).template()
    file = tmp_path_factory.mktemp("chart") / "all.yaml"
    file.write_text(yaml.safe_dump_all(rendered))
    plane.kubectl("apply", "--server-side", "--filename", str(file))
    return rendered


@pytest.fixture
def cluster(plane: ControlPlane, rendered: Rendered, capsys: pytest.CaptureFixture[str]) -> Iterator[Cluster]:
    """The chart as it is installed, without anything that pods or a test have done."""
    made = Cluster(plane, rendered, capsys)
    yield made
    for shell in SHELLS:
        made.patch(shell, {"webhooks": None})
    for kind in ("leases", "pods", "secrets"):
        plane.kubectl("delete", kind, "--all", f"--namespace={NAMESPACE}", "--force", "--grace-period=0")
    plane.kubectl("delete", "admissionpolicies,policyexceptions", "--all")
    made.apply(_deployment_status(rendered, 0), status=True)


@pytest.fixture
def well(cluster: Cluster) -> Cluster:
    """A cluster in which two replicas run, one of which leads and has registered the bundled policies."""
    now = datetime.now(UTC)
    pair, authority = issue(ENDPOINT.hosts, now)
    keyring = Keyring(pair, authority, approved=fingerprint(pair.certificate))
    made = registration(policies.load([policies.bundled()]).policies, catalog.newest().version, Configuration(), now)
    for shell, path, entries in zip(SHELLS, (VALIDATE, MUTATE), (made.validating, made.mutating), strict=True):
        hooks = webhooks(path, entries, ENDPOINT, Configuration().exempt, PODS)
        cluster.patch(shell, {"webhooks": with_bundle(hooks, authority)})
    cluster.apply(keyring.onto(None, NAMESPACE, "cozyguard-tls"))
    cluster.apply(_lease("cozyguard-controller", now, ""))
    for number in (1, 2):
        cluster.apply(_lease(f"cozyguard-replica-{number}", now, keyring.leaf), _pod(cluster.rendered, number))
    cluster.apply(_deployment_status(cluster.rendered, 2), status=True)
    return cluster


def _lease(name: str, now: datetime, leaf: str) -> Object:
    labels = {"app.kubernetes.io/name": "cozyguard", "app.kubernetes.io/component": "replica"} if leaf else {}
    annotations = {"cozyguard.io/leaf": leaf, "cozyguard.io/policies": "52"} if leaf else {}
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels, "annotations": annotations},
        "spec": {"leaseDurationSeconds": 600, "renewTime": f"{now:%Y-%m-%dT%H:%M:%S.%fZ}", "holderIdentity": "a"},
    }


def _pod(rendered: Rendered, number: int) -> Object:
    template = rendered.one("Deployment")["spec"]["template"]
    metadata = {"name": f"cozyguard-{number}", "namespace": NAMESPACE, "labels": template["metadata"]["labels"]}
    spec = {"nodeName": f"node-{number}", "containers": [{"name": "cozyguard", "image": "example.org/cozyguard:1"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _deployment_status(rendered: Rendered, ready: int) -> Object:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": rendered.one("Deployment")["metadata"]["name"], "namespace": NAMESPACE},
        "status": {"replicas": 2, "readyReplicas": ready, "observedGeneration": 1},
    }


def test_a_cluster_that_is_well_has_nothing_to_mend(well: Cluster) -> None:
    code, out, err = well.doctor("--fail-on=remark")
    assert out.endswith("nothing to mend\n"), out
    assert (code, err) == (0, "")


def test_the_chart_has_nothing_to_mend_before_it_is_installed(
    rendered: Rendered, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "chart.yaml"
    file.write_text(yaml.safe_dump_all([*rendered, _registered_by_hand(rendered)]))
    assert main(["doctor", "--fail-on=warning", str(file)]) == 0, capsys.readouterr().out


def _registered_by_hand(rendered: Rendered) -> Object:
    """Ask the chart's Service, so that it is looked at, and what is behind it."""
    hook = {
        "name": "packages.example.org",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "clientConfig": {"service": {"namespace": NAMESPACE, "name": RELEASE}},
        "rules": [
            {"apiGroups": ["cozystack.io"], "apiVersions": ["*"], "resources": ["packages"], "operations": ["CREATE"]}
        ],
    }
    return rendered.one("ValidatingWebhookConfiguration") | {"metadata": {"name": "by-hand"}, "webhooks": [hook]}


def test_a_chart_whose_pods_do_not_run_is_told_to_judge_nothing(cluster: Cluster) -> None:
    found = cluster.found()
    assert set(found) == {"not-registered", "leader", "replicas-silent"}
    assert cluster.doctor()[0] == 1


def test_replicas_that_are_down_are_told_with_the_way_out(well: Cluster) -> None:
    well.apply(_deployment_status(well.rendered, 0), status=True)
    well.plane.kubectl("delete", "leases", "--all", f"--namespace={NAMESPACE}")
    found = well.found()
    assert set(found) == {"replicas-down", "leader", "replicas-silent"}
    assert found["replicas-down"]["resource"]["name"] == RELEASE
    assert "delete the webhook configurations" in found["replicas-down"]["fix"]["text"]


def test_a_certificate_of_another_ca_is_found_and_its_key_never_shown(well: Cluster) -> None:
    pair, authority = issue(("other.example.org",), datetime.now(UTC) - timedelta(days=88))
    well.apply(Keyring(pair, authority, approved="").onto(None, NAMESPACE, "cozyguard-tls"))
    _, out, _ = well.doctor()
    assert set(well.found()) == {"ca-mismatch", "certificate-names", "certificate-expiry"}
    assert not any(line in out for line in pair.key.decode().splitlines() if "-----" not in line)


def test_rights_that_were_taken_away_are_named_one_by_one(well: Cluster) -> None:
    well.plane.kubectl("delete", "clusterrolebinding", RELEASE)
    try:
        code, out, _ = well.doctor()
    finally:
        well.apply(well.rendered.one("ClusterRoleBinding"))
    assert code == 1
    assert f"`{PODS}` may not watch packages.cozystack.io" in out
    assert f"`{PODS}` may not patch validatingwebhookconfigurations.admissionregistration.k8s.io `cozyguard`" in out
    assert f"`{PODS}` may not update leases" not in out


def test_policies_and_exceptions_of_the_cluster_are_looked_at(well: Cluster) -> None:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["secrets"], "operations": ["CREATE"]}
    spec = {"matchConstraints": {"resourceRules": [rule]}, "validations": [{"expression": "true"}]}
    policy = {
        "apiVersion": "cozyguard.io/v1alpha1",
        "kind": "AdmissionPolicy",
        "metadata": {"name": "mine"},
        "spec": spec,
    }
    well.apply(policy)
    assert well.found()["policy"]["message"] == "has not been looked at by any replica"


def test_what_one_may_not_read_is_said_and_the_rest_is_examined(well: Cluster, tmp_path: Path) -> None:
    rules = [
        {"apiGroups": ["admissionregistration.k8s.io"], "resources": ["*"], "verbs": ["list"]},
        {"apiGroups": [""], "resources": ["services", "namespaces"], "verbs": ["list"]},
    ]
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "reader"}}
    binding = {
        **role,
        "kind": "ClusterRoleBinding",
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "reader"}],
    }
    well.apply(role | {"rules": rules}, binding)
    config = json.loads(well.plane.kubeconfig.read_text())
    config["users"][0]["user"]["as"] = "reader"
    file = tmp_path / "kubeconfig"
    file.write_text(json.dumps(config))
    code, out, err = well.doctor(kubeconfig=file)
    assert (code, out.endswith("nothing to mend\n")) == (0, True)
    assert "note: may not read every Deployment that there is to see: what depends on it is not checked\n" in err


def test_the_command_that_is_printed_mends_the_registration(cluster: Cluster, kubectl: Callable[[str], str]) -> None:
    hook = {
        "name": "check.policy.example.org",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "clientConfig": {"url": "https://policy.policy-system.svc:1/validate"},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}],
    }
    shell = cluster.rendered.one("ValidatingWebhookConfiguration")
    cluster.plane.kubectl("create", "namespace", "policy-system")
    cluster.apply({**shell, "metadata": {"name": "policy"}, "webhooks": [hook]})
    try:
        before = cluster.found()
        assert {"own-namespace", "kube-system", "infrastructure", "no-answer"} <= set(before)
        kubectl(before["own-namespace"]["fix"]["command"])
        assert {"own-namespace", "kube-system", "infrastructure"}.isdisjoint(cluster.found())
    finally:
        cluster.plane.kubectl("delete", "validatingwebhookconfiguration", "policy")


@pytest.fixture
def kubectl(plane: ControlPlane) -> Callable[[str], str]:
    """Run a command line as it is printed."""

    def run(line: str) -> str:
        program, *words = shlex.split(line)
        assert program == "kubectl"
        return plane.kubectl(*words)

    return run


def test_a_cluster_that_does_not_answer_is_exit_code_3(cluster: Cluster, tmp_path: Path) -> None:
    config = json.loads(cluster.plane.kubeconfig.read_text())
    config["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    file = tmp_path / "kubeconfig"
    file.write_text(json.dumps(config))
    code, out, err = cluster.doctor(kubeconfig=file)
    assert (code, out) == (3, "")
    assert err.startswith("error: ")
