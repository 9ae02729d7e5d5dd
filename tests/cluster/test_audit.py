"""The audit of a real cluster: what is planted is found, and nothing else; what cannot be looked at is told."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.controlplane.plane import ControlPlane
from webhook.cli import main
from webhook.sources import crd

Object = dict[str, Any]

NAMESPACES = ("audit-a", "audit-b")
RED = "cmVk"
""""red", as a Secret has it."""

POLICIES = """
apiVersion: cozyguard.io/v1alpha1
kind: AdmissionPolicy
metadata: {name: colour}
spec:
  severity: high
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], resources: [configmaps, secrets], operations: [CREATE, UPDATE]}
    objectSelector: {matchLabels: {audit: "yes"}}
  validations:
  - name: not-red
    expression: "!(object.?data.colour.orValue('') in ['red', 'cmVk'])"
    message: red is for alarms
    field: data.colour
    allowedExpression: "['blue', 'green']"
---
apiVersion: cozyguard.io/v1alpha1
kind: AdmissionPolicy
metadata: {name: colour-from-next-release-on}
spec:
  releases: ">=1.7"
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}
    objectSelector: {matchLabels: {audit: "yes"}}
  validations:
  - {name: not-blue, expression: "object.?data.colour.orValue('') != 'blue'", message: blue is gone, field: data.colour}
---
apiVersion: cozyguard.io/v1alpha1
kind: AdmissionPolicy
metadata: {name: by-whom}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], resources: [serviceaccounts], operations: [CREATE]}
    objectSelector: {matchLabels: {audit: "yes"}}
  validations:
  - {name: admin, expression: request.userInfo.username == 'admin', message: admins alone}
"""


@dataclass(frozen=True)
class Answer:
    """What the command answered."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)

    @property
    def found(self) -> list[tuple[str, str]]:
        """Rule and object of each finding, in the order of the output."""
        return [
            (one["rule"], "/".join(filter(None, (one["resource"]["namespace"], one["resource"]["name"]))))
            for one in self.document["results"]
        ]


Audit = Callable[..., Answer]
Plant = Callable[..., None]


@pytest.fixture(scope="module")
def cluster(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """The control plane with two namespaces of ours."""
    for name in NAMESPACES:
        control_plane.kubectl("create", "namespace", name)
    yield control_plane
    control_plane.kubectl("delete", "namespace", *NAMESPACES, "--wait=false")


@pytest.fixture
def plant(cluster: ControlPlane, tmp_path: Path) -> Iterator[Plant]:
    """Apply objects, which go after the test."""
    file = tmp_path / "planted.json"
    given: list[Object] = []

    def apply(*objects: Object, manager: str = "kubectl") -> None:
        given.extend(objects)
        file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
        cluster.kubectl("apply", "--server-side", f"--field-manager={manager}", "--force-conflicts", "-f", str(file))

    yield apply
    if given:
        file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": given}))
        cluster.kubectl("delete", "--ignore-not-found", "--wait=false", "-f", str(file))


@pytest.fixture
def policies(tmp_path: Path) -> Path:
    file = tmp_path / "policies.yaml"
    file.write_text(POLICIES)
    return file


@pytest.fixture
def flags(cluster: ControlPlane, policies: Path) -> list[str]:
    """Those of an audit of our namespaces."""
    places = [f"--namespace={name}" for name in NAMESPACES]
    return ["audit", "--kubeconfig", str(cluster.kubeconfig), "--policies", str(policies), "-o", "json", *places]


@pytest.fixture
def audit(flags: list[str], capsys: pytest.CaptureFixture[str]) -> Audit:
    """Run the command; the flags of a test come after the usual ones."""

    def run(*more: str) -> Answer:
        capsys.readouterr()
        code = main([*flags, *more])
        return Answer(code, *capsys.readouterr())

    return run


def config_map(name: str, colour: str, namespace: str = "audit-a", kind: str = "ConfigMap") -> Object:
    metadata = {"name": name, "namespace": namespace, "labels": {"audit": "yes"}}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, "data": {"colour": colour}}


def service_account(name: str) -> Object:
    metadata = {"name": name, "namespace": "audit-a", "labels": {"audit": "yes"}}
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}


def test_what_is_planted_is_found_and_only_that(plant: Plant, audit: Audit) -> None:
    plant(config_map("b", "red"), config_map("a", "red", "audit-b"), config_map("fine", "green"))
    answer = audit("--release=1.6")
    assert answer.found == [("not-red", "audit-a/b"), ("not-red", "audit-b/a")]
    assert (answer.code, answer.document["summary"]["resourcesDenied"], answer.document["inputErrors"]) == (1, 2, [])
    first = answer.document["results"][0]
    assert (first["outcome"], first["field"], first["value"], first["allowed"]) == (
        "deny",
        "data.colour",
        "red",
        ["blue", "green"],
    )


def test_check_says_the_same_of_the_same_objects(
    plant: Plant,
    audit: Audit,
    cluster: ControlPlane,
    policies: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    plant(
        config_map("a", "red"), config_map("b", RED, kind="Secret"), config_map("fine", "green"), service_account("c")
    )
    found = audit("--namespace=audit-a").document
    dump = tmp_path / "dump.yaml"
    dump.write_text(cluster.kubectl("get", "configmaps,secrets,serviceaccounts", "--namespace=audit-a", "-o", "yaml"))
    main(["check", str(dump), "--policies", str(policies), "-o", "json"])
    checked = json.loads(capsys.readouterr().out)
    assert found["summary"] == checked["summary"]
    assert told(found) == told(checked)


def told(document: Any) -> list[Any]:
    """Everything of the findings but where they are written and who wrote them."""
    differs = ("source", "setBy")
    results = [{key: value for key, value in one.items() if key not in differs} for one in document["results"]]
    return sorted(results, key=json.dumps)


def test_kinds_and_namespaces_narrow_it_down(plant: Plant, cluster: ControlPlane, audit: Audit, policies: Path) -> None:
    plant(config_map("a", "red"), config_map("b", "red", "audit-b"))
    assert audit("--kind=secrets", "--release=1.6").found == []
    assert audit("--kind=configmap", "--release=1.6").found == [("not-red", "audit-a/a"), ("not-red", "audit-b/b")]
    everywhere = ["audit", "--kubeconfig", str(cluster.kubeconfig), "--policies", str(policies), "--release=1.6"]
    assert main([*everywhere, "--namespace=audit-b"]) == 1
    assert main([*everywhere, "--policy=colour-*"]) == 0


def test_a_namespace_or_kind_that_is_not_there_is_refused(audit: Audit) -> None:
    answer = audit("--namespace=audit-c")
    assert answer.code == 2
    assert "there is no namespace `audit-c`; did you mean `audit-" in answer.err
    answer = audit("--kind=ConfigMop")
    assert answer.code == 2
    assert "the cluster serves no `ConfigMop` that can be audited; did you mean `ConfigMap`?" in answer.err


def test_an_upgrade_shows_what_differs_alone(plant: Plant, audit: Audit) -> None:
    plant(config_map("red", "red"), config_map("blue", "blue"))
    answer = audit("--from=1.6", "--to=1.7")
    assert [one["resource"]["name"] for one in answer.document["newlyDenied"]] == ["blue"]
    assert (answer.code, answer.document["summary"]["newlyAllowed"]) == (1, 0)


def test_a_finding_tells_who_has_set_the_field(plant: Plant, audit: Audit) -> None:
    plant(config_map("flux", "red"), manager="helm-controller")
    plant(config_map("edited", "green"), manager="helm-controller")
    plant(config_map("edited", "red"), manager="kubectl-edit")
    owners = {one["resource"]["name"]: one["setBy"] for one in audit("--release=1.6").document["results"]}
    assert "= set by: kubectl-edit, by hand, 20" in audit("--release=1.6", "--output=text").out
    assert (owners["flux"]["manager"], owners["flux"]["byHand"]) == ("helm-controller", False)
    assert (owners["edited"]["manager"], owners["edited"]["byHand"]) == ("kubectl-edit", True)


def test_a_secret_is_found_without_its_value(plant: Plant, audit: Audit) -> None:
    plant(config_map("hidden", RED, kind="Secret"))
    answer = audit("--release=1.6")
    assert answer.found == [("not-red", "audit-a/hidden")]
    assert RED not in answer.out
    page = audit("--release=1.6", "--output=html").out
    assert "colour: (hidden)" in page
    assert RED not in page


def test_a_page_shows_the_object_around_the_field(plant: Plant, audit: Audit) -> None:
    plant(config_map("a", "red"))
    page = audit("--release=1.6", "--output=html").out
    assert "<span>metadata: {&#8230;}</span><span>data:</span><mark>  colour: red</mark>" in page
    assert "1 of 1 objects denied" in page


@pytest.mark.parametrize(("form", "words"), [("junit", "<failure message="), ("tap", "not ok 1 - ConfigMap audit-a/a")])
def test_other_formats_name_the_object_in_place_of_a_file(plant: Plant, audit: Audit, form: str, words: str) -> None:
    plant(config_map("a", "red"), service_account("b"))
    out = audit("--release=1.6", f"--output={form}").out
    assert words in out
    assert 'file: "ConfigMap audit-a/a"' in out or 'file="ConfigMap audit-a/a"' in out


def test_a_rule_that_cannot_be_checked_is_told_once(plant: Plant, audit: Audit) -> None:
    plant(service_account("one"), service_account("three"), service_account("two"))
    answer = audit()
    assert answer.found == [("admin", "audit-a/one")]
    assert answer.document["results"][0]["message"].endswith("; nor for 2 other objects")
    assert (answer.code, answer.document["summary"]["skip"]) == (0, 3)
    assert audit("--fail-on=skip").code == 1


def test_in_a_job_what_is_denied_is_no_failure(plant: Plant, audit: Audit) -> None:
    plant(config_map("a", "red"))
    assert [audit("--release=1.6", flag).code for flag in ("--fail-on=nothing", "--fail-on=warn")] == [0, 1]


def test_many_pages_are_read_and_nothing_is_counted_twice(plant: Plant, audit: Audit) -> None:
    plant(*(config_map(f"many-{number:03}", "red" if number % 10 == 0 else "green") for number in range(130)))
    answer = audit("--release=1.6", "--kind=ConfigMap", "--namespace=audit-a")
    assert answer.found == [("not-red", f"audit-a/many-{number:03}") for number in range(0, 130, 10)]
    assert answer.document["summary"]["resources"] == 130


def test_shares_are_the_whole_together(plant: Plant, audit: Audit) -> None:
    plant(config_map("a", "red"), config_map("b", "red", "audit-b"), config_map("s", RED, kind="Secret"))
    whole = audit("--release=1.6").found
    shares = [audit("--release=1.6", f"--shard={share}/3").found for share in range(3)]
    assert sorted(one for share in shares for one in share) == sorted(whole)
    assert max(map(len, shares)) < len(whole)


def test_more_findings_than_can_be_kept_are_counted(plant: Plant, audit: Audit) -> None:
    plant(*(config_map(f"c{number}", "red") for number in range(5)))
    answer = audit("--release=1.6", "--max-findings=3")
    assert (len(answer.found), answer.document["summary"]["deny"]) == (3, 5)
    assert "2 more findings are counted and not listed" in answer.err


def test_what_is_being_deleted_is_left_alone(plant: Plant, audit: Audit, cluster: ControlPlane) -> None:
    going = config_map("going", "red")
    plant(going | {"metadata": going["metadata"] | {"finalizers": ["example.org/wait"]}})
    cluster.kubectl("delete", "configmap", "going", "--namespace=audit-a", "--wait=false")
    assert audit("--release=1.6").found == []
    cluster.kubectl(
        "patch", "configmap", "going", "--namespace=audit-a", "--type=merge", '--patch={"metadata":{"finalizers":null}}'
    )


def test_a_policy_that_is_not_for_what_exists_already_is_passed_over(
    plant: Plant, audit: Audit, policies: Path
) -> None:
    kyvernos: Object = {
        "apiVersion": "policies.kyverno.io/v1",
        "kind": "ValidatingPolicy",
        "metadata": {"name": "colourless"},
        "spec": {
            "evaluation": {"background": {"enabled": False}},
            "matchConstraints": {
                "resourceRules": [
                    {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]}
                ],
                "objectSelector": {"matchLabels": {"audit": "yes"}},
            },
            "validations": [{"expression": "false"}],
        },
    }
    plant(config_map("fine", "green"))
    policies.write_text(json.dumps(kyvernos))
    assert audit("--release=1.6").found == []
    kyvernos["spec"]["evaluation"]["background"]["enabled"] = True
    policies.write_text(json.dumps(kyvernos))
    assert audit("--release=1.6").found == [("0", "audit-a/fine")]


def test_policies_and_exceptions_of_the_cluster_are_honoured(
    plant: Plant, audit: Audit, cluster: ControlPlane, policies: Path
) -> None:
    cluster.install(crd.FOLDER)
    colour, *_ = yaml.safe_load_all(policies.read_text())
    rule = colour["spec"]["validations"][0] | {"message": "says the cluster"}
    exception = {
        "apiVersion": "cozyguard.io/v1alpha1",
        "kind": "PolicyException",
        "metadata": {"name": "audit-alarm"},
        "spec": {
            "policies": [{"name": "colour"}],
            "match": {"names": ["alarm"]},
            "owner": "us",
            "reason": "it is one",
            "expiresAt": "2099-12-31T00:00:00Z",
        },
    }
    plant(config_map("alarm", "red"), config_map("b", "red"))
    plant(colour | {"spec": colour["spec"] | {"validations": [rule]}}, exception)
    answer = audit("--release=1.6")
    told = {one["resource"]["name"]: (one["message"], "silenced" in one) for one in answer.document["results"]}
    assert told == {"alarm": ("says the cluster", True), "b": ("says the cluster", False)}
    assert answer.document["summary"]["silenced"] == 1


def test_what_rbac_forbids_is_told_and_the_rest_is_found(
    plant: Plant, cluster: ControlPlane, audit: Audit, tmp_path: Path
) -> None:
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "auditor"}}
    cluster.install(crd.FOLDER)
    allowed = ["configmaps", "serviceaccounts", "namespaces", "admissionpolicies"]
    rules = [{"apiGroups": ["", "cozyguard.io"], "resources": allowed, "verbs": ["list", "watch"]}]
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "auditor"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "auditor"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "auditor"}],
    }
    plant(role | {"rules": rules}, binding, config_map("a", "red"))
    config = json.loads(cluster.kubeconfig.read_text())
    config["users"][0]["user"]["as"] = "auditor"
    limited = tmp_path / "kubeconfig"
    limited.write_text(json.dumps(config))
    answer = audit("--kubeconfig", str(limited), "--release=1.6")
    assert answer.found == [("not-red", "audit-a/a")]
    assert answer.code == 2
    forbidden = "not audited: needs the verb list on it"
    assert {one["file"]: one["message"] for one in answer.document["inputErrors"]} == {
        "policyexceptions.cozyguard.io": "not honoured: needs the verb list on it",
        "secrets in audit-a": forbidden,
        "secrets in audit-b": forbidden,
    }


def test_a_cluster_that_does_not_answer_has_an_exit_code_of_its_own(
    cluster: ControlPlane, audit: Audit, tmp_path: Path
) -> None:
    config = json.loads(cluster.kubeconfig.read_text())
    config["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    nowhere = tmp_path / "kubeconfig"
    nowhere.write_text(json.dumps(config))
    answer = audit("--kubeconfig", str(nowhere))
    assert (answer.code, answer.out) == (3, "")
    assert "127.0.0.1:1 cannot be reached" in answer.err


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_who_is_interrupted_tells_what_was_found_so_far(plant: Plant, flags: list[str], how: signal.Signals) -> None:
    plant(*(config_map(f"slow-{number:03}", "red") for number in range(120)))
    slow = [*flags, "--release=1.6", "--qps=1", "--parallel=1"]
    seen, terminal = pty.openpty()
    command = [sys.executable, "-m", "webhook", *slow]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=terminal, text=True)
    os.close(terminal)
    told = b""
    while not re.search(rb"audited [1-9]\d* objects", told):  # the line of progress
        told += os.read(seen, 1024)
    process.send_signal(how)
    out, _ = process.communicate(timeout=30)
    os.close(seen)
    assert process.returncode == 130
    document = json.loads(out)
    assert [one["message"] for one in document["inputErrors"]] == ["interrupted: what was looked at until then is told"]
    assert document["results"]
