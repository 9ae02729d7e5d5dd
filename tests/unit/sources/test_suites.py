from __future__ import annotations

from pathlib import Path

from webhook.runs.suite import run
from webhook.sources import suites

POLICY = """
apiVersion: cozyguard.io/v1alpha1
kind: AdmissionPolicy
metadata: {name: limited}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  paramRef: {selector: {}, parameterNotFoundAction: Deny}
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [CREATE]}]
  validations: [{expression: object.spec.replicas <= int(params.data.most), message: too many}]
"""
TESTS = """
apiVersion: cozyguard.io/v1alpha1
kind: PolicyTest
defaults:
  params: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {most: "3"}}
cases:
- name: more than the params say is refused
  object: &four {apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {replicas: 4}}
  expect: {outcome: deny}
- name: each of several counts
  object: *four
  params:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {most: "9"}}
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {most: "4"}}
  expect: {outcome: allow}
- name: without any it is refused
  object: *four
  params: []
  expect: {outcome: error, message: there is no ConfigMap}
"""


def test_a_case_gives_the_params_of_its_policy(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(POLICY)
    (tmp_path / "tests.yaml").write_text(TESTS)
    loaded = suites.load([tmp_path / "tests.yaml"])
    assert not loaded.errors
    (suite,) = loaded.suites
    assert [(one.case.name, one.differences) for one in run(suite).results if one.differences] == []
