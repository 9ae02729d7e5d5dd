"""What an audit asks the cluster for `authorizer`: about an account that a policy names, and nobody else."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.controlplane.plane import ControlPlane
from webhook.cli import main
from webhook.cluster.client import Client

NAMESPACE = "audit-authorizer"
POLICY = f"""
apiVersion: cozyguard.io/v1alpha1
kind: AdmissionPolicy
metadata: {{name: rights}}
spec:
  matchConstraints:
    resourceRules:
    - {{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}}
  validations:
  - name: robot
    expression: >-
      !authorizer.serviceAccount('{NAMESPACE}', object.data.robot).group('').resource('configmaps')
      .namespace('{NAMESPACE}').check('delete').allowed()
    message: the robot of this map may delete it
  - name: user
    expression: authorizer.requestResource.check('delete').allowed()
    message: only for those who may delete it
"""

Audit = Callable[[Path], tuple[int, Any]]


@pytest.fixture(scope="module")
def cluster(control_plane: ControlPlane) -> Iterator[ControlPlane]:
    """Two maps of two robots, of which one may delete maps."""
    control_plane.kubectl("create", "namespace", NAMESPACE)
    here = ("--namespace", NAMESPACE)
    control_plane.kubectl("create", "role", "deleter", "--verb=delete", "--resource=configmaps", *here)
    account = f"--serviceaccount={NAMESPACE}:deleter"
    control_plane.kubectl("create", "rolebinding", "deleter", "--role=deleter", account, *here)
    for name, robot in (("a", "deleter"), ("b", "reader")):
        control_plane.kubectl("create", "configmap", name, f"--from-literal=robot={robot}", *here)
    yield control_plane
    control_plane.kubectl("delete", "configmaps", "--all", *here)
    control_plane.kubectl("delete", "namespace", NAMESPACE, "--wait=false")


@pytest.fixture
def audit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Audit:
    def run(kubeconfig: Path) -> tuple[int, Any]:
        policies = tmp_path / "policy.yaml"
        policies.write_text(POLICY)
        flags = ["--policies", str(policies), f"--namespace={NAMESPACE}", "-o", "json"]
        code = main(["audit", "--kubeconfig", str(kubeconfig), *flags])
        return code, json.loads(capsys.readouterr().out)

    return run


def told(document: Any) -> list[tuple[str, str, str]]:
    return [(one["rule"], one["outcome"], one["resource"]["name"]) for one in document["results"]]


def test_the_cluster_answers_for_an_account_and_not_for_the_unknown_user(cluster: ControlPlane, audit: Audit) -> None:
    code, document = audit(cluster.kubeconfig)
    assert (code, told(document)) == (1, [("robot", "deny", "a"), ("user", "skip", "a")])


def test_who_may_not_ask_is_told_what_is_not_known_and_asks_once(
    cluster: ControlPlane, audit: Audit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.kubectl("create", "clusterrole", "asker", "--verb=list,watch", "--resource=configmaps,namespaces")
    cluster.kubectl("create", "clusterrolebinding", "asker", "--clusterrole=asker", "--user=asker")
    config = json.loads(cluster.kubeconfig.read_text())
    config["users"][0]["user"]["as"] = "asker"
    limited = tmp_path / "kubeconfig"
    limited.write_text(json.dumps(config))
    asked, create = [], Client.create

    async def counted(self: Client, path: str, obj: Any, **query: str) -> Any:
        asked.append(path)
        return await create(self, path, obj, **query)

    monkeypatch.setattr(Client, "create", counted)
    _, document = audit(limited)
    cluster.kubectl("delete", "clusterrole,clusterrolebinding", "asker")
    assert told(document) == [("robot", "skip", "a"), ("user", "skip", "a")]
    assert f"whether system:serviceaccount:{NAMESPACE}:deleter may delete configmaps" in str(document["results"])
    assert len(asked) == 1
