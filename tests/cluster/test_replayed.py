"""What a real API server has logged of real requests, judged by `cozyguard replay`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from tests.controlplane.plane import ControlPlane
from webhook.cli import main

if TYPE_CHECKING:
    import pytest

POLICY = """
apiVersion: cozyguard.io/v1alpha1
kind: AdmissionPolicy
metadata: {name: colour}
spec:
  onExistingViolation: Deny
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: ["*"]}]
    objectSelector: {matchLabels: {app: replayed}}
  validations:
  - name: not-red
    expression: object == null || object.data.colour != 'red'
    message: red is for alarms
    field: data.colour
  - name: never-back
    expression: oldObject == null || object == null || oldObject.data.colour != 'blue' || object.data.colour != 'green'
    message: blue stays blue
"""


def test_an_audit_log_tells_what_was_created_changed_and_deleted_and_by_whom(
    control_plane: ControlPlane, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = control_plane.audit_log.stat().st_size if control_plane.audit_log.exists() else 0
    token = f"--token={control_plane.recorded_token}"
    file = tmp_path / "map.json"
    for colour in ("blue", "green", "red"):  # the first creates, by POST, the others are patches
        metadata = {"name": "replayed", "namespace": "default", "labels": {"app": "replayed"}}
        obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"colour": colour}}
        file.write_text(json.dumps(obj))
        control_plane.kubectl("apply", token, "--as=dev-1", "--as-group=system:masters", "--filename", str(file))
    control_plane.kubectl("replace", token, "--filename", str(file))
    control_plane.kubectl("delete", token, "--filename", str(file))
    with control_plane.audit_log.open("rb") as log:
        log.seek(before)
        (tmp_path / "audit.log").write_bytes(log.read())
    (tmp_path / "policy.yaml").write_text(POLICY)

    code = main(["replay", str(tmp_path / "audit.log"), "--policies", str(tmp_path / "policy.yaml"), "-o", "json"])

    told = capsys.readouterr()
    document = json.loads(told.out)
    assert (code, told.err, document["inputErrors"]) == (1, "", [])
    assert document["summary"]["resources"] == 5
    assert [
        (one["rule"], one["request"]["operation"], one["request"]["user"], one["request"]["allowed"])
        for one in document["results"]
    ] == [
        ("never-back", "UPDATE", "dev-1", True),
        ("not-red", "UPDATE", "dev-1", True),
        ("not-red", "UPDATE", "recorded", True),
    ]
