"""`cozyguard test --update`: what a case expects, written anew in its own text."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Write = Callable[[str, Any], str]

POLICY = """\
apiVersion: cozyguard.io/v1alpha1
kind: AdmissionPolicy
metadata: {name: size}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}
  mutations:
  - patchType: JSONPatch
    jsonPatch: {expression: "has(object.data.colour) ? [] : [JSONPatch{op: 'add', path: '/data/colour', value: 'blue'}]"}
    message: blue is usual
  validations:
  - {name: small, expression: object.data.size == '1', message: the size has to be 1, field: data.size, reason: Forbidden}
"""

SUITE = """\
# Sizes and colours.
apiVersion: cozyguard.io/v1alpha1
kind: PolicyTest
cases:
- name: two is too much   # as in May
  object: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {size: "2", colour: red}}
  expect:
    outcome: deny
    field: data          # a comment
    message: 'the size is 1'
    reason: Invalid
- name: the usual colour
  object: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {size: "1"}}
  expect: {outcome: allow, patched: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {size: "1", colour: red}}, warnings: []}
---
apiVersion: cozyguard.io/v1alpha1
kind: PolicyTest
cases:
- name: two is too much
  object: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {size: "2", colour: red}}
  expect: {outcome: deny, message: too large}
"""

UPDATED = """\
# Sizes and colours.
apiVersion: cozyguard.io/v1alpha1
kind: PolicyTest
cases:
- name: two is too much   # as in May
  object: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {size: "2", colour: red}}
  expect:
    outcome: deny
    field: data.size          # a comment
    message: 'the size has to be 1'
    reason: Forbidden
- name: the usual colour
  object: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {size: "1"}}
  expect: {outcome: allow, patched: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {size: "1", colour: blue}}, warnings: ["[size] blue is usual"]}
---
apiVersion: cozyguard.io/v1alpha1
kind: PolicyTest
cases:
- name: two is too much
  object: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {size: "2", colour: red}}
  expect: {outcome: deny, message: "the size has to be 1"}
"""


@pytest.fixture
def suite(write: Write) -> str:
    write("policy.yaml", POLICY)
    return write("tests.yaml", SUITE)


def test_what_is_expected_is_written_anew_and_nothing_else_changes(cozyguard: Run, suite: str) -> None:
    assert cozyguard("test", suite).code == 1

    answer = cozyguard("test", suite, "--update")

    assert Path(suite).read_text() == UPDATED
    assert answer.code == 0
    assert "3 passed, 0 failed" in answer.out
    assert answer.err.splitlines() == [
        "tests.yaml:5:9: updated: two is too much: field",
        "tests.yaml:5:9: updated: two is too much: message",
        "tests.yaml:5:9: updated: two is too much: reason",
        "tests.yaml:12:9: updated: the usual colour: patched",
        "tests.yaml:12:9: updated: the usual colour: warnings",
        "tests.yaml:19:9: updated: two is too much: message",
    ]
    assert cozyguard("test", suite, "--update").err == ""


@pytest.mark.parametrize(
    ("expect", "why"),
    [
        ("{outcome: allow}", "outcome: it is for you to say what is right"),
        ("{outcome: deny, message: /too (large|small)/}", "message: a regular expression stays as it is"),
        ("{outcome: deny, auditAnnotations: {a: b}}", "audit annotation a: there is none any more"),
        ("{outcome: deny, policy: sise}", "policy: it is for you to say what is right"),
    ],
)
def test_what_a_person_has_to_decide_stays_and_fails(
    cozyguard: Run, suite: str, write: Write, expect: str, why: str
) -> None:
    text = SUITE.partition("---\n")[2].replace("{outcome: deny, message: too large}", expect)
    write("tests.yaml", text)

    answer = cozyguard("test", suite, "--update")

    assert (answer.code, Path(suite).read_text()) == (1, text)
    assert answer.err == f"tests.yaml:4:9: not updated: two is too much: {why}\n"


@pytest.mark.parametrize("flags", [["--update"], ["--update", "--watch", "tests.yaml"]])
def test_suites_are_named_before_they_are_written(cozyguard: Run, suite: str, flags: list[str]) -> None:
    answer = cozyguard("test", *flags)

    assert answer.code == 2
    assert "`--update` writes suites anew, once: name them, and leave out `--watch`" in answer.err
    assert Path(suite).read_text() == SUITE


def test_cases_on_one_line_each_have_what_is_theirs(cozyguard: Run, write: Write) -> None:
    write("policy.yaml", POLICY)
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"size": "2", "colour": "red"}}
    expected = [{"message": "x"}, {"field": "x"}, {"message": "y", "reason": "Invalid"}]
    cases = [
        {"name": f"case {number}", "object": obj, "expect": {"outcome": "deny"} | one}
        for number, one in enumerate(expected)
    ]
    suite = write(
        "tests.json", json.dumps({"apiVersion": "cozyguard.io/v1alpha1", "kind": "PolicyTest", "cases": cases})
    )

    answer = cozyguard("test", suite, "--update")

    assert (answer.code, answer.err.count(": updated: ")) == (0, 4)
    message = "the size has to be 1"
    assert [case["expect"] for case in json.loads(Path(suite).read_text())["cases"]] == [
        {"outcome": "deny", "message": message},
        {"outcome": "deny", "field": "data.size"},
        {"outcome": "deny", "message": message, "reason": "Forbidden"},
    ]


def test_suites_of_other_tools_are_left_alone_with_words(cozyguard: Run, write: Write) -> None:
    resource = '{resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]}'
    write(
        "policy.yaml",
        "apiVersion: policies.kyverno.io/v1\nkind: ValidatingPolicy\nmetadata: {name: p}\n"
        f"spec: {{matchConstraints: {resource}, validations: [{{expression: 'false', message: never}}]}}\n",
    )
    write("pod.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: x}\n")
    suite = write(
        "kyverno-test.yaml",
        "apiVersion: cli.kyverno.io/v1alpha1\nkind: Test\nmetadata: {name: t}\n"
        "policies: [policy.yaml]\nresources: [pod.yaml]\nresults:\n"
        "- {policy: p, isValidatingPolicy: true, kind: Pod, resources: [a], result: pass}\n",
    )
    before = Path(suite).read_text()

    answer = cozyguard("test", suite, "--update")

    assert answer.code == 1
    assert (
        "kyverno-test.yaml:7:3: not updated: p: pass for Pod x/a: only suites of kind PolicyTest are updated"
        in answer.err
    )
    assert Path(suite).read_text() == before
