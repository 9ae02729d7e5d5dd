from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from webhook.sources.bundled import bundled

Run = Callable[..., Any]
Write = Callable[[str, Any], str]
Golden = Callable[[str, str], None]

POLICY = """\
apiVersion: cozyguard.io/v1alpha1
kind: AdmissionPolicy
metadata: {name: needs-a}
spec:
  title: A ConfigMap has a
  severity: low
  releases: ">=1.5"
  why: nothing works without it
  docs: https://example.org/needs-a
  sources: ["packages/a/values.yaml, v1.6.2", a page]
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: ["*"], resources: [configmaps], operations: [CREATE, UPDATE]}
  matchConditions:
  - {name: not-ours, expression: "object.metadata.name != 'ours'"}
  lookups:
  - {name: other, apiVersion: v1, kind: ConfigMap, namespace: default, objectName: other}
  variables:
  - {name: keys, expression: "object.?data.orValue({}).map(key, key)"}
  validations:
  - name: a
    expression: "'a' in variables.keys || 'needs-a' in acknowledged"
    message: there is no a
    field: data
    fix: {text: add a}
  - name: short
    forEach: {in: variables.keys, as: key}
    expression: "size(key) < 5"
    messageExpression: "key + ' is too long'"
  mutations:
  - patchType: JSONPatch
    message: b is set, as everybody needs it
    jsonPatch:
      expression: "[JSONPatch{op: 'add', path: '/data/b', value: '1'}]"
"""
TESTS = """\
apiVersion: cozyguard.io/v1alpha1
kind: PolicyTest
policies: [.]
defaults: {release: "1.6"}
cases:
- name: without a it is refused
  object: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {b: "1"}}
  lookups: [{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: default}}]
  expect: {outcome: deny}
- name: with a it passes
  object: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {a: "1", b: "1"}}
  expect: {outcome: allow}
"""


@pytest.fixture
def needs_a(write: Write) -> str:
    """Write a policy with one of everything, and its tests; gives the folder."""
    write("own/needs-a/policy.yaml", POLICY)
    write("own/needs-a/tests.yaml", TESTS)
    return "own"


def test_all_policies_are_listed_with_what_they_are_about(cozyguard: Run) -> None:
    answer = cozyguard("explain")

    names = {file.parent.name for file in bundled().rglob("policy.yaml")}
    listed = {line.split()[1] for line in answer.out.splitlines()[:-1] if not line.startswith(" ")}
    assert (answer.code, answer.err) == (0, "")
    assert listed == names
    assert answer.out.splitlines()[-1].startswith(f"{len(names)} policies: ")


def test_the_list_is_a_document_too(cozyguard: Run, needs_a: str) -> None:
    answer = cozyguard("explain", "--policies", needs_a, "-o", "json")

    (entry,) = answer.document["policies"]
    assert answer.document["version"] == 1
    assert {key: entry[key] for key in ("name", "title", "severity", "releases", "acknowledge")} == {
        "name": "needs-a",
        "title": "A ConfigMap has a",
        "severity": "low",
        "releases": ">=1.5",
        "acknowledge": "needs-a",
    }
    assert entry["matches"][0]["resources"] == ["configmaps"]
    assert [rule["name"] for rule in entry["rules"]] == ["a", "short"]
    assert "examples" not in entry


def test_the_list_of_a_release_has_what_holds_on_it(cozyguard: Run, needs_a: str) -> None:
    assert cozyguard("explain", "--policies", needs_a, "--release", "1.5").out.endswith("1 policy: 1 low\n")
    assert cozyguard("explain", "--policies", needs_a, "--release", "1.4").out == "0 policies\n"


def test_one_policy_is_told_with_an_example_that_is_refused_and_one_that_passes(
    cozyguard: Run, needs_a: str, golden: Golden, tmp_path: Path
) -> None:
    answer = cozyguard("explain", "needs-a", "--policies", needs_a)

    assert (answer.code, answer.err) == (0, "")
    golden("explain/policy.txt", answer.out.replace(str(tmp_path), "/home/me"))


def test_one_policy_is_a_document_too(cozyguard: Run, needs_a: str) -> None:
    answer = cozyguard("explain", "needs-a", "--policies", needs_a, "-o", "json")

    (entry,) = answer.document["policies"]
    assert entry["sources"] == ["packages/a/values.yaml, v1.6.2", "a page"]
    refused, passes = entry["examples"]
    assert refused["name"] == "without a it is refused"
    assert refused["command"][:3] == ["cozyguard", "check", "configmap.yaml"]
    assert "there is no a [needs-a]" in refused["output"]
    assert passes["output"].endswith(": 0 denied\n")


def test_a_policy_without_tests_is_told_without_examples(cozyguard: Run, write: Write) -> None:
    answer = cozyguard("explain", "needs-a", "--policies", write("policy.yaml", POLICY))

    assert answer.code == 0
    assert "example" not in answer.out.replace("example.org", "")


def test_variables_of_the_user_do_not_change_examples(
    cozyguard: Run, needs_a: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = cozyguard("explain", "needs-a", "--policies", needs_a).out
    monkeypatch.setenv("COZYGUARD_OUTPUT", "text")
    monkeypatch.setenv("COZYGUARD_RELEASE", "1.4")
    monkeypatch.setenv("COZYGUARD_SHOW_PASSED", "true")

    assert cozyguard("explain", "needs-a", "--policies", needs_a).out == told


def test_an_unknown_name_gets_the_near_one(cozyguard: Run) -> None:
    answer = cozyguard("explain", "package-varant-known")

    assert (answer.code, answer.out) == (2, "")
    assert answer.err == (
        "error: no policy is called `package-varant-known`; did you mean `package-variant-known`?\n"
        "`cozyguard explain` lists all\n"
    )


def test_a_policy_that_does_not_load_hides_no_other(cozyguard: Run, needs_a: str, write: Write) -> None:
    write("own/broken/policy.yaml", POLICY.replace("needs-a", "broken").replace("size(key)", "sise(key)"))
    answer = cozyguard("explain", "--policies", needs_a)

    assert answer.code == 2
    assert "needs-a" in answer.out
    assert "policy error" in answer.err
