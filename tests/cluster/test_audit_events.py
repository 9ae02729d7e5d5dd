"""What an audit finds, as Events: `kubectl describe` of an object shows them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.controlplane.plane import ControlPlane
from webhook.cli import main
from webhook.server import auditing
from webhook.server.auditing import Auditing
from webhook.server.logs import Log
from webhook.server.settings import Settings

Object = dict[str, Any]
NAMESPACE = "audit-events"
LABELS = {"audit": "events"}
POLICY = f"""
apiVersion: cozyguard.io/v1alpha1
kind: AdmissionPolicy
metadata: {{name: colour}}
spec:
  matchConstraints:
    resourceRules:
    - {{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}}
    - {{apiGroups: [rbac.authorization.k8s.io], apiVersions: [v1], resources: [clusterroles], operations: [CREATE]}}
    objectSelector: {{matchLabels: {json.dumps(LABELS)}}}
  validations:
  - {{name: not-red, expression: "object.metadata.name != 'red'", message: red is for alarms, field: metadata.name}}
  - {{name: short, expression: "object.metadata.name.size() > 3", message: "{"too short " * 120}"}}
"""


def config_map(name: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": LABELS},
    }


def cluster_role(name: str) -> Object:
    metadata = {"name": name, "labels": LABELS}
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": metadata}


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("policies") / "colour.yaml"
    file.write_text(POLICY)
    return file


@pytest.fixture(scope="module")
def plane(control_plane: ControlPlane, policy: Path) -> Iterator[ControlPlane]:
    """The control plane with a red ConfigMap, a red ClusterRole, and one that nothing is to be said against."""
    control_plane.kubectl("create", "namespace", NAMESPACE)
    file = policy.parent / "objects.json"
    items = [config_map("red"), config_map("green"), cluster_role("red")]
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    control_plane.kubectl("apply", "--filename", str(file))
    yield control_plane
    control_plane.kubectl("delete", "--wait=false", "--filename", str(file))
    control_plane.kubectl("delete", "namespace", NAMESPACE, "--wait=false")


def events(plane: ControlPlane, namespace: str) -> list[Object]:
    listed = json.loads(plane.kubectl("get", "events.events.k8s.io", f"--namespace={namespace}", "-o", "json"))
    return [one for one in listed["items"] if one.get("reportingController") == "cozyguard.io/audit"]


def test_each_object_that_would_be_refused_has_one_however_often_it_is_audited(
    plane: ControlPlane, policy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audit = ["audit", "--kubeconfig", str(plane.kubeconfig), "--policies", str(policy), "--events"]
    assert main(audit) == 1
    assert "events: 2 written\n" in capsys.readouterr().err
    assert main(audit) == 1
    assert "events: 0 written\n" in capsys.readouterr().err

    (event,) = events(plane, NAMESPACE)
    assert event["note"].startswith("metadata.name: red is for alarms [colour]; metadata.name: too short too short")
    assert len(event["note"].encode()) == 1024
    assert (event["type"], event["reason"]) == ("Warning", "PolicyViolation")
    (other,) = events(plane, "default")
    assert (other["regarding"]["kind"], other["regarding"]["name"]) == ("ClusterRole", "red")
    described = plane.kubectl("describe", "configmap", "red", f"--namespace={NAMESPACE}")
    assert "red is for alarms [colour]" in described


def test_what_is_forbidden_is_told_and_ends_nothing(
    plane: ControlPlane, policy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plane.kubectl("create", "serviceaccount", "reader", f"--namespace={NAMESPACE}")
    account = f"--serviceaccount={NAMESPACE}:reader"
    plane.kubectl("create", "clusterrole", "events-reader", "--verb=list,watch", "--resource=configmaps,namespaces")
    plane.kubectl("create", "clusterrolebinding", "events-reader", "--clusterrole=events-reader", account)
    config = json.loads(plane.kubeconfig.read_text())
    config["users"][0]["user"] = {
        "token": plane.kubectl("create", "token", "reader", f"--namespace={NAMESPACE}").strip()
    }
    (tmp_path / "kubeconfig").write_text(json.dumps(config))
    plane.kubectl("delete", "events.events.k8s.io", "--all", f"--namespace={NAMESPACE}")

    flags = ["--namespace", NAMESPACE, "--kind=ConfigMap", "--policies", str(policy), "--events"]
    code = main(["audit", "--kubeconfig", str(tmp_path / "kubeconfig"), *flags])

    told = capsys.readouterr()
    plane.kubectl("delete", "clusterrolebindings/events-reader", "clusterroles/events-reader")
    assert code == 2
    assert "events: error: 1 not written: Forbidden" in told.err
    assert "red is for alarms" in told.out


async def test_the_leader_audits_in_a_process_of_its_own_and_counts_what_is_found(
    plane: ControlPlane, policy: Path, until: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auditing, "_FIRST", 0)
    settings = Settings(kubeconfig=plane.kubeconfig, policies=(policy,), audit_every=1)
    made = Auditing(settings, Log())
    running = asyncio.create_task(made.run())
    await until(lambda: "cozyguard_audit_findings" in made.samples())

    samples = made.samples()
    assert samples["cozyguard_audits_total"] == [["complete", 1]]
    assert samples["cozyguard_audit_findings"] == [["colour", "deny", 4]]
    assert ["denied", 2] in samples["cozyguard_audit_objects"]
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert made.samples() == {"cozyguard_audits_total": [["complete", 1]]}, "another replica tells now"


async def test_an_audit_that_fails_is_counted_and_logged(
    policy: Path, until: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(auditing, "_FIRST", 0)
    made = Auditing(Settings(kubeconfig=policy, policies=(policy,), audit_every=1), Log())
    running = asyncio.create_task(made.run())
    await until(lambda: made.samples()["cozyguard_audits_total"])
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert made.samples() == {"cozyguard_audits_total": [["failed", 1]]}
    (line,) = [json.loads(one) for one in capfd.readouterr().err.splitlines()]
    assert (line["level"], line["msg"]) == ("error", "audit failed")
    assert "kubeconfig" in line["said"]
