from __future__ import annotations

from pathlib import Path

import pytest

from tests.controlplane.plane import ControlPlane
from webhook.cli import main

POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [bootstrap.cluster.x-k8s.io], apiVersions: ["*"], operations: [CREATE], resources: [kubeadmconfigtemplates]}
  validations:
  - {expression: "!object.?spec.?tempalte.hasValue()"}
"""


@pytest.fixture
def policy(tmp_path: Path) -> str:
    file = tmp_path / "policy.yaml"
    file.write_text(POLICY)
    return str(file)


def test_a_cluster_says_how_its_own_kinds_are_built(
    control_plane: ControlPlane, policy: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lint", policy]) == 0
    assert main(["lint", policy, "--kubeconfig", str(control_plane.kubeconfig)]) == 1
    assert "`object.?spec` has no field `tempalte`; did you mean `template`?" in capsys.readouterr().out


def test_a_cluster_that_cannot_be_reached_is_said(
    control_plane: ControlPlane, policy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "kubeconfig"
    config.write_text(control_plane.kubeconfig.read_text().replace(control_plane.url, "https://127.0.0.1:1"))
    assert main(["lint", policy, "--kubeconfig", str(config)]) == 3
    assert capsys.readouterr().out == ""
