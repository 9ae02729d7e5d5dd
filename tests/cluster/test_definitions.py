"""The CRDs, as the API server takes them: they refuse nonsense, and change nothing of what is right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.controlplane.plane import ControlPlane
from tests.controlplane.versions import ControlPlaneError
from webhook.sources import crd
from webhook.sources.bundled import bundled

HEAD = "apiVersion: cozyguard.io/v1alpha1\nkind: {kind}\nmetadata: {{name: nonsense}}\nspec:\n"
POLICY = """\
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
  validations: [{expression: "true"}]
"""
EXCEPTION = """\
  policies: [{name: p}]
  match: {}
  owner: a team
  reason: because
  expiresAt: "2099-12-31T00:00:00Z"
"""


@pytest.fixture(scope="module")
def plane(control_plane: ControlPlane) -> ControlPlane:
    control_plane.install(crd.FOLDER)
    return control_plane


def test_every_bundled_policy_is_stored_as_it_is_written(plane: ControlPlane) -> None:
    files = sorted(bundled().rglob("policy.yaml"))
    flags = [flag for file in files for flag in ("-f", str(file))]
    stored = json.loads(plane.kubectl("apply", "--dry-run=server", "-o", "json", *flags))["items"]
    for file, one in zip(files, stored, strict=True):
        assert one["spec"] == yaml.safe_load(file.read_text(encoding="utf-8"))["spec"], file


@pytest.mark.parametrize(
    ("kind", "right", "wrong", "message"),
    [
        ("AdmissionPolicy", "  validations", "  severty: high\n  validations", 'unknown field "spec.severty"'),
        ("AdmissionPolicy", "  validations", "  severity: hihg\n  validations", 'Unsupported value: "hihg": supported'),
        ("AdmissionPolicy", '[{expression: "true"}]', "[]", "spec: Invalid value: says nothing, want `validations`,"),
        (
            "AdmissionPolicy",
            '"true"',
            '"true", field: "a[@]"',
            "spec.validations[0]: Invalid value: `field`: `[@]` is the",
        ),
        (
            "AdmissionPolicy",
            '"true"',
            '"true", field: a, fieldExpression: "b"',
            "want at most one of `field`, `fieldExp",
        ),
        (
            "AdmissionPolicy",
            "  validations",
            '  lookups: [{name: a, apiVersion: v1, kind: Pod, namespace: b, namespaceExpression: "c"}]\n  validations',
            "spec.lookups[0]: Invalid value: want at most one of `namespace`, `namespaceExpression`",
        ),
        (
            "AdmissionPolicy",
            "  validations",
            "  validationActions: [Deny, Warn]\n  validations",
            "got `Deny` and `Warn`, want",
        ),
        (
            "AdmissionPolicy",
            "[CREATE]}]",
            "[DELETE]}]\n  mutations: [{patchType: JSONPatch, jsonPatch: {expression: '[]'}}]",
            "`DELETE` in a policy with mutations, which nothing can mutate",
        ),
        (
            "AdmissionPolicy",
            "    resourceRules",
            "    namespaceSelector: {matchExpressions: [{key: a, operator: In}]}\n    resourceRules",
            "`In` and `NotIn` want at least one of `values`",
        ),
        (
            "AdmissionPolicy",
            "  validations",
            '  variables: [{name: a, expression: "1"}, {name: a, expression: "2"}]\n  validations',
            'spec.variables[1]: Duplicate value: {"name":"a"}',
        ),
        ("PolicyException", "  owner: a team\n", "", "spec.owner: Required value"),
        ("PolicyException", "  reason: because\n", "", "spec.reason: Required value"),
        ("PolicyException", '  expiresAt: "2099-12-31T00:00:00Z"\n', "", "spec.expiresAt: Required value"),
        ("PolicyException", "2099-12-31T00:00:00Z", "tomorrow", "spec.expiresAt in body must be of type date-time"),
        ("PolicyException", "[{name: p}]", "[]", "spec.policies in body should have at least 1 items"),
    ],
)
def test_nonsense_is_refused_with_its_place(
    kind: str, right: str, wrong: str, message: str, plane: ControlPlane, tmp_path: Path
) -> None:
    spec = POLICY if kind == "AdmissionPolicy" else EXCEPTION
    assert right in spec
    file = tmp_path / "nonsense.yaml"
    file.write_text(HEAD.format(kind=kind) + spec.replace(right, wrong))
    with pytest.raises(ControlPlaneError) as refusal:
        plane.kubectl("apply", "--dry-run=server", "-f", str(file))
    assert message in str(refusal.value)


def test_kubectl_knows_short_names_and_what_fields_are_for(plane: ControlPlane) -> None:
    assert plane.kubectl("get", "cozyguard,cgp,cge", "-o", "name").split() == sorted(
        plane.kubectl("get", "admissionpolicies,policyexceptions", "-o", "name").split()
    )
    assert "From this moment on it no longer counts." in plane.kubectl("explain", "policyexceptions.spec.expiresAt")
