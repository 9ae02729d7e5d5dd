from __future__ import annotations

from pathlib import Path

import pytest

from webhook.model.suite import CaseResult, Suite
from webhook.runs.suite import run
from webhook.sources import suites
from webhook.sources.suites import LoadedSuites

POLICY = """
apiVersion: policies.kyverno.io/v1
kind: ValidatingPolicy
metadata: {name: owned}
spec:
  validationActions: [ACTION]
  matchConstraints:
    namespaceSelector: {matchLabels: {strict: "yes"}}
    resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE, UPDATE, DELETE]}]
  matchConditions:
  - {name: people, expression: "request.userInfo.username != 'root' && request.operation != 'UPDATE'"}
  validations:
  - expression: "has((object == null ? oldObject : object).metadata.labels)"
    message: no labels
"""
MUTATION = """
apiVersion: policies.kyverno.io/v1
kind: MutatingPolicy
metadata: {name: quiet}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
  mutations:
  - patchType: JSONPatch
    jsonPatch: {expression: "[JSONPatch{op: 'add', path: '/spec/volumes', value: []}]"}
"""
RESOURCES = """
apiVersion: v1
kind: Pod
metadata: {name: good, labels: {a: b}}
spec: {}
---
apiVersion: v1
kind: Pod
metadata: {name: bad, namespace: strict}
spec: {}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: good}
"""
VALUES = """
apiVersion: cli.kyverno.io/v1alpha1
kind: Values
namespaceSelector: [{name: default, labels: {strict: "yes"}}]
namespaces: [{apiVersion: v1, kind: namespace, metadata: {name: strict, labels: {strict: "yes"}}}]
"""
USER = "apiVersion: cli.kyverno.io/v1alpha1\nkind: UserInfo\nuserInfo: {username: NAME, groups: [g]}\n"
TEST = """
apiVersion: cli.kyverno.io/v1alpha1
kind: Test
metadata: {name: t}
policies: [../policy.yaml, ../mutation.yaml]
resources: [resources.yaml]
variables: values.yaml
userinfo: user.yaml
results:
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    hidden = tmp_path / ".kyverno-test"
    hidden.mkdir()
    (tmp_path / "policy.yaml").write_text(POLICY.replace("ACTION", "Audit"))
    (tmp_path / "mutation.yaml").write_text(MUTATION)
    (hidden / "resources.yaml").write_text(RESOURCES)
    (hidden / "values.yaml").write_text(VALUES)
    (hidden / "user.yaml").write_text(USER.replace("NAME", "anna"))
    return tmp_path


def load(folder: Path, rows: str, *, test: str = TEST) -> LoadedSuites:
    (folder / ".kyverno-test" / "kyverno-test.yaml").write_text(test + rows)
    return suites.load([folder])


def only(loaded: LoadedSuites) -> Suite:
    assert not loaded.errors
    (suite,) = loaded.suites
    return suite


def results(folder: Path, rows: str) -> tuple[CaseResult, ...]:
    result = run(only(load(folder, rows)))
    assert not result.errors
    return result.results


def told(folder: Path, rows: str) -> list[str]:
    """Give what differs, a line a difference."""
    return [f"{d.what}: want {d.want}, got {d.got}" for one in results(folder, rows) for d in one.differences]


@pytest.mark.parametrize("action", ["Deny", "Warn", "Audit"])
def test_a_row_holds_whatever_the_policy_asks_for_when_a_rule_is_broken(folder: Path, action: str) -> None:
    (folder / "policy.yaml").write_text(POLICY.replace("ACTION", action))
    rows = (
        "- {policy: owned, kind: Pod, resources: [good], result: pass, isValidatingPolicy: true}\n"
        "- {policy: owned, kind: Pod, resources: [strict/bad], result: fail}\n"
    )
    found = results(folder, rows)
    assert [one.case.name for one in found] == ["owned: pass for Pod default/good", "owned: fail for Pod strict/bad"]
    assert [one.differences for one in found] == [(), ()]


def test_a_row_that_does_not_hold_says_what_came(folder: Path) -> None:
    assert told(folder, "- {policy: owned, resources: [bad], result: pass}\n") == [
        "outcome: want allow, got audit\nmetadata.labels: no labels"
    ]
    assert told(folder, "- {policy: owned, kind: Pod, resources: [good], result: fail}\n") == [
        "broken rules: want at least 1, got 0, of allow"
    ]


@pytest.mark.parametrize("result", ["pass", "fail", "warn"])
def test_a_row_that_matched_nothing_is_told_and_never_passed(folder: Path, result: str) -> None:
    (line,) = told(folder, f"- {{policy: owned, kind: ConfigMap, resources: [good], result: {result}}}\n")
    assert line.startswith("outcome: want ")
    assert line.endswith("got notMatched")


def test_skip_is_a_policy_that_is_not_about_the_request(folder: Path) -> None:
    (folder / ".kyverno-test" / "user.yaml").write_text(USER.replace("NAME", "root"))
    assert not told(folder, "- {policy: owned, kind: Pod, resources: [bad], result: skip}\n")


def test_without_names_a_row_is_about_every_resource_of_its_kind(folder: Path) -> None:
    rows = "- {policy: owned, kind: Pod, result: fail}\n"
    assert [len(one.differences) for one in results(folder, rows)] == [1, 0]


def test_resources_can_be_named_by_their_type(folder: Path) -> None:
    spec = "{version: v1, kind: Pod, name: bad, namespace: strict}"
    assert not told(folder, f"- {{policy: owned, resourceSpecs: [{spec}], result: fail}}\n")


def test_the_operation_comes_from_the_row_or_from_the_values(folder: Path) -> None:
    assert not told(folder, "- {policy: owned, resources: [bad], operation: DELETE, result: fail}\n")
    values = VALUES + "policies: [{name: owned, resources: [{name: bad, values: {request.operation: UPDATE}}]}]\n"
    (folder / ".kyverno-test" / "values.yaml").write_text(values)
    assert not told(folder, "- {policy: owned, resources: [bad], result: skip}\n")
    (folder / ".kyverno-test" / "values.yaml").write_text(VALUES + "globalValues: {request.operation: UPDATE}\n")
    assert not told(folder, "- {policy: owned, resources: [bad], result: skip}\n")


def test_what_a_resource_becomes_is_compared_but_for_what_is_empty(folder: Path) -> None:
    (folder / ".kyverno-test" / "patched.yaml").write_text(RESOURCES)
    row = "- {policy: quiet, kind: Pod, resources: [good], result: pass, patchedResources: patched.yaml}\n"
    assert not told(folder, row)
    (folder / ".kyverno-test" / "patched.yaml").write_text(RESOURCES.replace("spec: {}", "spec: {a: b}"))
    (line,) = told(folder, row)
    assert line.startswith("patched: want")


def test_exceptions_count_and_what_they_except_is_skipped(folder: Path) -> None:
    (folder / ".kyverno-test" / "exception.yaml").write_text(
        "apiVersion: policies.kyverno.io/v1\nkind: PolicyException\nmetadata: {name: e, namespace: a}\n"
        "spec:\n  policyRefs: [{kind: ValidatingPolicy, name: owned}]\n"
        "  matchConditions: [{name: bad ones, expression: object.metadata.name == 'bad'}]\n"
    )
    test = TEST.replace("results:", "exceptions: [exception.yaml]\nresults:")
    rows = "- {policy: owned, resources: [bad], result: skip}\n- {policy: owned, kind: Pod, resources: [good], result: pass}\n"
    assert [one.differences for one in run(only(load(folder, rows, test=test))).results] == [(), ()]


def test_a_row_whose_resource_is_not_there_is_a_fault_and_the_others_run(folder: Path) -> None:
    rows = "- {policy: owned, resources: [baad], result: fail}\n- {policy: owned, resources: [bad], result: fail}\n"
    loaded = load(folder, rows)
    (error,) = loaded.errors
    assert error.path == "results[0].resources[0]"
    assert "no resource of the test is called `baad`; did you mean `bad`?" in error.message
    assert [case.name for suite in loaded.suites for case in suite.cases] == ["owned: fail for Pod strict/bad"]


@pytest.mark.parametrize(
    ("wrong", "right", "path", "message"),
    [
        ("resources: [resources", "jsonPayloads: [a.json]\nresources: [resources", "jsonPayloads", "no request"),
        ("resources: [resources", "resources: [none.yaml, resources", "resources[0]", "cannot be read"),
        ("user.yaml", "values.yaml", "kind", "got `Values`, want `UserInfo`"),
    ],
)
def test_what_cannot_be_honoured_is_refused_by_name(
    folder: Path, wrong: str, right: str, path: str, message: str
) -> None:
    loaded = load(folder, "- {policy: owned, result: fail}\n", test=TEST.replace(wrong, right))
    assert [error.path for error in loaded.errors if message in error.message] == [path]
    assert not loaded.suites


def test_values_that_policies_of_cel_cannot_read_are_refused(folder: Path) -> None:
    (folder / ".kyverno-test" / "values.yaml").write_text(VALUES + "globalValues: {colour: red}\n")
    (error,) = load(folder, "- {policy: owned, result: fail}\n").errors
    assert (error.path, error.file.rpartition("/")[2]) == ("globalValues", "values.yaml")
    assert "`colour`" in error.message


def test_an_operation_that_is_none_is_refused(folder: Path) -> None:
    (folder / ".kyverno-test" / "values.yaml").write_text(VALUES + "globalValues: {request.operation: update}\n")
    (error,) = load(folder, "- {policy: owned, result: fail}\n").errors
    assert "got `update`, want `CREATE`, `UPDATE` or `DELETE`" in error.message


def test_rows_about_kinds_that_are_not_read_are_refused(folder: Path) -> None:
    (error,) = load(folder, "- {policy: a, result: pass, isGeneratingPolicy: true}\n").errors
    assert error.path == "results[0].isGeneratingPolicy"


def test_objects_of_the_context_and_params_are_there(folder: Path) -> None:
    (folder / ".kyverno-test" / "context.yaml").write_text(
        "apiVersion: cli.kyverno.io/v1alpha1\nkind: Context\nspec: {resources: [{apiVersion: v1, kind: ConfigMap,"
        " metadata: {name: c, namespace: default}}]}\n"
    )
    (folder / ".kyverno-test" / "cluster.yaml").write_text(
        "apiVersion: cli.kyverno.io/v1alpha1\nkind: ClusterResource\nspec: {crds: [crd.yaml],"
        " resources: [{apiVersion: v1, kind: ConfigMap, metadata: {name: e}}]}\n"
    )
    (folder / ".kyverno-test" / "crd.yaml").write_text("{kind: CustomResourceDefinition, metadata: {name: f}}")
    more = "context: context.yaml\nparamResources: [resources.yaml]\nclusterResources: [cluster.yaml]\nresults:"
    test = TEST.replace("results:", more)
    suite = only(load(folder, "- {policy: owned, resources: [bad], result: fail}\n", test=test))
    assert {one["metadata"]["name"] for one in suite.cases[0].lookups} >= {"c", "good", "strict", "e", "f"}


def test_a_row_about_a_native_policy_without_a_binding_says_why_it_does_nothing(folder: Path) -> None:
    native = POLICY.replace("policies.kyverno.io", "admissionregistration.k8s.io")
    native = native.replace("ValidatingPolicy", "ValidatingAdmissionPolicy").replace(
        "  validationActions: [ACTION]\n", ""
    )
    (folder / "policy.yaml").write_text(native)
    (line,) = told(folder, "- {policy: owned, resources: [bad], result: fail}\n")
    assert "policy `owned` does nothing: no ValidatingAdmissionPolicyBinding names it" in line
