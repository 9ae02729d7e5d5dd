"""What is decided with policies of Kyverno: where they hold, and what their conditions may read."""

from __future__ import annotations

from typing import Any

import pytest

from webhook.model.request import Object

HEAD = """\
apiVersion: policies.kyverno.io/v1
kind: KIND
metadata: {name: name, namespace: a}
spec:
  matchConstraints: {resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], operations: ["*"]}]}
"""
LABELLING = """\
  matchConditions: [{name: wanted, expression: variables.wanted}]
  variables: [{name: wanted, expression: EXPRESSION}]
  mutations:
  - patchType: JSONPatch
    jsonPatch: {expression: "[JSONPatch{op: 'add', path: '/data/NAME', value: 'x'}]"}
"""


def config_map(namespace: str = "a", **data: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": namespace}, "data": data}


def node() -> Object:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}


@pytest.mark.parametrize(
    ("obj", "allowed"),
    [(config_map("a"), False), (config_map("b"), True), (node(), True)],
)
def test_a_namespaced_policy_is_about_what_lives_in_its_namespace(
    judge: Any, load: Any, obj: Object, allowed: bool
) -> None:
    text = HEAD.replace("KIND", "NamespacedValidatingPolicy") + "  validations: [{expression: 'false'}]\n"
    assert judge(load(text), obj).allowed is allowed


def test_equal_conditions_of_two_policies_read_each_its_own_variables(judge: Any, load: Any) -> None:
    head = HEAD.replace("KIND", "MutatingPolicy").replace(", namespace: a", "").replace('["*"]}]', '["CREATE"]}]')
    text = "---\n".join(
        head.replace("name: name", f"name: {name}") + LABELLING.replace("NAME", name).replace("EXPRESSION", expression)
        for name, expression in (("p", '"true"'), ("q", "has(object.data.q)"), ("r", "has(object.data.p)"))
    )
    decision = judge(load(text), config_map(k="v"))
    assert decision.object["data"] == {"k": "v", "p": "x", "r": "x"}


def test_a_condition_whose_variable_cannot_be_computed_refuses_the_request(judge: Any, load: Any) -> None:
    head = HEAD.replace("KIND", "NamespacedMutatingPolicy").replace('["*"]}]', '["CREATE"]}]')
    text = head + LABELLING.replace("EXPRESSION", "object.data.none == 'x'")
    decision = judge(load(text), config_map(k="v"))
    assert not decision.allowed
    assert [finding.outcome for finding in decision.findings] == ["error"]


def test_what_is_being_deleted_is_judged_and_an_existing_violation_denied_as_by_kyverno(judge: Any, load: Any) -> None:
    text = HEAD.replace("KIND", "NamespacedValidatingPolicy") + "  validations: [{expression: 'false'}]\n"
    going = config_map()
    going["metadata"]["deletionTimestamp"] = "2026-11-30T00:00:00Z"
    assert not judge(load(text), going, old=going, operation="UPDATE").allowed
