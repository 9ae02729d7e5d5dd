from __future__ import annotations

import json
from pathlib import Path

import pytest

from webhook.model.suite import CaseResult
from webhook.runs.suite import run
from webhook.sources import suites

TEMPLATE = """
apiVersion: templates.gatekeeper.sh/v1
kind: ConstraintTemplate
metadata: {name: few}
spec:
  crd: {spec: {names: {kind: Few}}}
  targets:
  - target: admission.k8s.gatekeeper.sh
    operations: ["*"]
    code:
    - engine: K8sNativeValidation
      source:
        validations:
        - {expression: variables.anyObject.spec.replicas <= variables.params.most, message: too many}
        - {expression: variables.anyObject.spec.replicas != 13, message: unlucky}
        - {expression: request.userInfo.username != 'root', message: not by root}
"""
CONSTRAINT = """
apiVersion: constraints.gatekeeper.sh/v1beta1
kind: Few
metadata: {name: few}
spec:
  enforcementAction: dryrun
  match:
    kinds: [{apiGroups: [apps], kinds: [Deployment]}]
    namespaceSelector: {matchExpressions: [{key: free, operator: DoesNotExist}]}
  parameters: {most: 3}
"""
SUITE = """
apiVersion: test.gatekeeper.sh/v1alpha1
kind: Suite
tests:
- name: few
  template: template.yaml
  constraint: constraint.yaml
  cases:
"""


def deployment(replicas: int, kind: str = "Deployment") -> dict[str, object]:
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "d"}, "spec": {"replicas": replicas}}


def review(**request: object) -> dict[str, object]:
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    objects = {
        "three": deployment(3),
        "thirteen": deployment(13),
        "other": deployment(9, "StatefulSet"),
        "removed": review(operation="DELETE", oldObject=deployment(5), userInfo={"username": "root"}),
        "empty": review(operation="CREATE"),
        "namespace": {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": "default", "labels": {"free": "y"}},
        },
    }
    (tmp_path / "template.yaml").write_text(TEMPLATE.replace("- {expression: request", "# {expression: request"))
    (tmp_path / "constraint.yaml").write_text(CONSTRAINT)
    for name, value in objects.items():
        (tmp_path / f"{name}.yaml").write_text(json.dumps(value))
    return tmp_path


def results(folder: Path, cases: str) -> list[CaseResult]:
    (folder / "suite.yaml").write_text(SUITE + cases)
    loaded = suites.load([folder / "suite.yaml"])
    assert not loaded.errors
    return [result for suite in loaded.suites for result in run(suite).results]


def told(folder: Path, cases: str) -> list[str]:
    return [f"{d.what}: want {d.want}, got {d.got}" for one in results(folder, cases) for d in one.differences]


@pytest.mark.parametrize(
    ("object_", "assertion"),
    [
        ("three", "{violations: no}"),
        ("three", "{violations: 0}"),
        ("thirteen", "{violations: yes}"),
        ("thirteen", "{message: unlucky}"),
        ("thirteen", "{violations: 2}"),
        ("thirteen", "{violations: 1, message: 'too +many'}"),
        ("thirteen", "{violations: 'no', message: nothing}"),
        ("removed", "{violations: 1}"),
    ],
)
def test_an_assertion_counts_broken_rules_that_say_something(folder: Path, object_: str, assertion: str) -> None:
    assert not told(folder, f"  - {{name: a, object: {object_}.yaml, assertions: [{assertion}]}}\n")


def test_an_assertion_that_does_not_hold_says_what_came(folder: Path) -> None:
    cases = "  - {name: a, object: thirteen.yaml, assertions: [{violations: 1}, {violations: 2}, {message: dull}]}\n"
    found = results(folder, cases)
    assert [one.case.name for one in found] == ["few: a (1)", "few: a (2)", "few: a (3)"]
    assert [len(one.differences) for one in found] == [1, 0, 1]
    assert "want at least 1 that say /dull/, got 0" in told(folder, cases)[1]


@pytest.mark.parametrize("violations", ["yes", "no", "0"])
def test_an_object_that_the_constraint_does_not_match_is_told_and_never_passed(folder: Path, violations: str) -> None:
    cases = f"  - {{name: a, object: other.yaml, assertions: [{{violations: {violations}}}]}}\n"
    assert told(folder, cases) == ["outcome: want a policy that was evaluated, got notMatched"]


def test_the_inventory_is_what_there_is_besides(folder: Path) -> None:
    cases = "  - {name: a, object: thirteen.yaml, inventory: [namespace.yaml], assertions: [{violations: yes}]}\n"
    assert told(folder, cases) == ["outcome: want a policy that was evaluated, got notMatched"]


def test_an_admission_review_says_who_asks_and_for_what(folder: Path) -> None:
    (folder / "template.yaml").write_text(TEMPLATE)
    cases = "  - {name: a, object: removed.yaml, assertions: [{message: not by root}, {message: too many}]}\n"
    assert not told(folder, cases)


def test_what_is_skipped_is_left_out(folder: Path) -> None:
    cases = "  - {name: a, object: three.yaml, assertions: [{}], skip: true}\n"
    other = "  - {name: b, object: three.yaml, assertions: [{violations: no}]}\n"
    assert [one.case.name for one in results(folder, cases + other)] == ["few: b"]


@pytest.mark.parametrize(
    ("case", "path", "message"),
    [
        ("{name: a, object: empty.yaml, assertions: [{}]}", "request", "has no `object` and no `oldObject`"),
        ("{name: a, object: none.yaml, assertions: [{}]}", "tests[0].cases[0].object", "cannot be read"),
        ("{name: a, object: three.yaml}", "tests[0].cases[0].assertions", "missing"),
        (
            "{name: a, object: three.yaml, assertions: [{message: '('}]}",
            "tests[0].cases[0].assertions[0].message",
            "no",
        ),
        (
            "{name: a, object: three.yaml, assertions: [{violations: -1}]}",
            "tests[0].cases[0].assertions[0].violations",
            "want a number",
        ),
    ],
)
def test_a_case_that_cannot_be_used_is_a_fault_with_its_place(folder: Path, case: str, path: str, message: str) -> None:
    (folder / "suite.yaml").write_text(f"{SUITE}  - {case}\n")
    (error,) = suites.load([folder / "suite.yaml"]).errors
    assert error.path == path
    assert message in error.message


@pytest.mark.parametrize("field", ["expansion: a.yaml", "invalid: true"])
def test_what_is_not_done_here_is_refused_by_name(folder: Path, field: str) -> None:
    cases = "  - {name: a, object: three.yaml, assertions: [{}]}\n"
    (folder / "suite.yaml").write_text(f"{SUITE}{cases}  {field}\n")
    (error,) = suites.load([folder / "suite.yaml"]).errors
    assert error.path == f"tests[0].{field.partition(':')[0]}"
