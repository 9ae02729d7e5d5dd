"""What an audit finds, kept in a real cluster as reports: updated, not piled up."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.report_kinds import DEFINITIONS
from tests.controlplane.plane import ControlPlane
from webhook.cli import main

Object = dict[str, Any]
NAMESPACE = "audit-reports"
LABEL = "app.kubernetes.io/managed-by=cozyguard"
FORMATS = {
    "policyreport": ("policyreports.wgpolicyk8s.io", "clusterpolicyreports.wgpolicyk8s.io"),
    "openreports": ("reports.openreports.io", "clusterreports.openreports.io"),
}
POLICY = """
apiVersion: cozyguard.io/v1alpha1
kind: AdmissionPolicy
metadata: {name: colour}
spec:
  severity: critical
  category: paint
  why: the wall is red already
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}
    - {apiGroups: [rbac.authorization.k8s.io], apiVersions: [v1], resources: [clusterroles], operations: [CREATE]}
    objectSelector: {matchLabels: {audit: reports}}
  validations:
  - name: not-red
    expression: object.metadata.labels.colour != 'red'
    message: red is for alarms
    field: metadata.labels.colour
    fix: {text: paint it blue}
"""


class Cluster:
    """The control plane with one form of reports, and an audit that keeps them."""

    def __init__(self, plane: ControlPlane, form: str, policy: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.plane, self.form = plane, form
        self._policy, self._capsys = policy, capsys

    def audit(self, *flags: str) -> tuple[int, str]:
        """Run the command; gives the exit code and what it says of reports."""
        self._capsys.readouterr()
        kubeconfig = ["--kubeconfig", str(self.plane.kubeconfig), "--policies", str(self._policy)]
        code = main(["audit", *kubeconfig, "--report", self.form, "--qps=1000", *flags])
        found = re.search(r"^reports: (.*)$", self._capsys.readouterr().err, re.MULTILINE)
        return code, found[1] if found else ""

    def reports(self) -> list[Object]:
        """Give the reports in the cluster, those in namespaces first."""
        listed = (self.plane.kubectl("get", kind, "-A", "-l", LABEL, "-o", "json") for kind in FORMATS[self.form])
        return [one for text in listed for one in json.loads(text)["items"]]

    def config_map(self, name: str, colour: str) -> Object:
        metadata = {"name": name, "namespace": NAMESPACE, "labels": {"audit": "reports", "colour": colour}}
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}

    def apply(self, *objects: Object) -> None:
        file = self._policy.parent / "objects.json"
        file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
        self.plane.kubectl("apply", "--server-side", "--filename", str(file))


@pytest.fixture(scope="module")
def plane(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    folder = tmp_path_factory.mktemp("crds")
    for one in DEFINITIONS:
        (folder / f"{one['metadata']['name']}.json").write_text(json.dumps(one))
    control_plane.install(folder)
    control_plane.kubectl("create", "namespace", NAMESPACE)
    yield control_plane
    control_plane.kubectl("delete", "namespace", NAMESPACE, "--wait=false")
    control_plane.kubectl("delete", "--filename", str(folder))


@pytest.fixture(params=FORMATS)
def cluster(
    request: pytest.FixtureRequest, plane: ControlPlane, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Iterator[Cluster]:
    policy = tmp_path / "policy.yaml"
    policy.write_text(POLICY)
    yield Cluster(plane, request.param, policy, capsys)
    plane.kubectl("delete", "configmaps,clusterroles", "-A", "-l", "audit=reports")
    plane.kubectl("delete", ",".join(FORMATS[request.param]), "-A", "-l", LABEL)


def test_a_report_says_what_was_found_where_and_is_owned_by_the_object(cluster: Cluster) -> None:
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "audit-reports", "labels": {"audit": "reports", "colour": "red"}},
        "rules": [],
    }
    cluster.apply(cluster.config_map("a", "red"), cluster.config_map("fine", "blue"), role)
    assert cluster.audit() == (1, "2 written, 0 unchanged, 0 deleted")
    of_map, of_role = cluster.reports()
    assert of_map["metadata"]["namespace"] == NAMESPACE
    scope = of_map["scope"]
    assert (scope["apiVersion"], scope["kind"], scope["name"]) == ("v1", "ConfigMap", "a")
    assert of_map["metadata"]["ownerReferences"] == [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": scope["uid"]}
    ]
    assert of_map["summary"] == {"pass": 0, "fail": 1, "warn": 0, "error": 0, "skip": 0}
    (result,) = of_map["results"]
    assert result.pop("timestamp")["seconds"] > 1_700_000_000
    assert result == {
        "source": "cozyguard",
        "policy": "colour",
        "rule": "not-red",
        "category": "paint",
        "severity": "critical",
        "result": "fail",
        "scored": True,
        "message": "red is for alarms",
        "resources": [scope | {"fieldPath": "metadata.labels.colour"}],
        "properties": {"fix": "paint it blue", "why": "the wall is red already", "setBy": "kubectl"},
    }
    assert (of_role["scope"]["name"], "namespace" in of_role["metadata"]) == ("audit-reports", False)


def test_nothing_is_written_while_nothing_changes(cluster: Cluster) -> None:
    cluster.apply(cluster.config_map("a", "red"))
    cluster.audit()
    (before,) = cluster.reports()
    assert cluster.audit() == (1, "0 written, 1 unchanged, 0 deleted")
    assert cluster.reports() == [before]


def test_a_report_goes_when_there_is_nothing_to_say_and_follows_what_is_said(cluster: Cluster, tmp_path: Path) -> None:
    cluster.apply(cluster.config_map("a", "red"), cluster.config_map("b", "red"))
    cluster.audit()
    cluster.apply(cluster.config_map("a", "blue"))
    policy = tmp_path / "policy.yaml"
    policy.write_text(POLICY.replace("red is for alarms", "red is loud"))
    assert cluster.audit() == (1, "1 written, 0 unchanged, 1 deleted")
    (left,) = cluster.reports()
    assert (left["scope"]["name"], left["results"][0]["message"]) == ("b", "red is loud")


def test_an_audit_of_a_part_leaves_the_other_reports_alone(cluster: Cluster) -> None:
    cluster.apply(cluster.config_map("a", "red"))
    cluster.audit()
    assert cluster.audit("--namespace=default") == (0, "0 written, 0 unchanged, 0 deleted")
    assert cluster.audit("--kind=ClusterRole") == (0, "0 written, 0 unchanged, 0 deleted")
    assert len(cluster.reports()) == 1


def test_shares_keep_the_reports_of_the_others(cluster: Cluster) -> None:
    cluster.apply(cluster.config_map("a", "red"), cluster.config_map("b", "red"))
    shares = [f"--shard={share}/2" for share in range(2)]
    assert sorted(cluster.audit(share)[1] for share in shares) == [
        "0 written, 0 unchanged, 0 deleted",
        "2 written, 0 unchanged, 0 deleted",
    ]
    cluster.apply(cluster.config_map("a", "blue"))
    assert sorted(cluster.audit(share)[1] for share in shares) == [
        "0 written, 0 unchanged, 0 deleted",
        "0 written, 1 unchanged, 1 deleted",
    ]


def test_reports_of_others_are_left_alone(cluster: Cluster) -> None:
    cluster.apply(cluster.config_map("a", "red"))
    cluster.audit()
    (ours,) = cluster.reports()
    labels = {"app.kubernetes.io/managed-by": "kyverno"}
    other = ours | {"metadata": {"name": "other", "namespace": NAMESPACE, "labels": labels}}
    cluster.apply(other, cluster.config_map("a", "blue"))
    assert cluster.audit() == (0, "0 written, 0 unchanged, 1 deleted")
    kind = FORMATS[cluster.form][0]
    cluster.plane.kubectl("delete", kind, "other", "--namespace", NAMESPACE)


def test_reports_that_may_not_be_written_are_told_and_the_findings_are_not_lost(
    cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.apply(cluster.config_map("a", "red"))
    cluster.plane.kubectl("create", "clusterrole", "reader", "--verb=list,watch", "--resource=*.*")
    cluster.plane.kubectl("create", "clusterrolebinding", "reader", "--clusterrole=reader", "--user=reader")
    config = json.loads(cluster.plane.kubeconfig.read_text())
    config["users"][0]["user"]["as"] = "reader"
    limited = tmp_path / "kubeconfig"
    limited.write_text(json.dumps(config))
    flags = ["--kubeconfig", str(limited), "--policies", str(tmp_path / "policy.yaml"), "--report", cluster.form]
    assert main(["audit", *flags]) == 2
    out, err = capsys.readouterr()
    assert "red is for alarms" in out
    assert "reports: error: 1 not written: Forbidden" in err
    cluster.plane.kubectl("delete", "clusterrole,clusterrolebinding", "reader")


@pytest.mark.parametrize("flag", ["--policy=colour", "--skip=other", "--severity=low", "--to=1.7"])
def test_a_choice_of_policies_is_refused(cluster: Cluster, flag: str) -> None:
    assert cluster.audit(flag) == (2, "")
