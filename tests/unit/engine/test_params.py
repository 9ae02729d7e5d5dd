"""`params`: a policy is evaluated with each of the objects that its binding names, by itself."""

from __future__ import annotations

from typing import Any

import pytest

from webhook.model.decision import Outcome
from webhook.model.request import Object

SPEC = """
paramKind: {apiVersion: v1, kind: ConfigMap}
paramRef: {%s}
variables: [{name: most, expression: "int(params.data.most)"}]
validations:
- expression: object.spec.replicas <= variables.most
  messageExpression: "'at most ' + params.data.most + ' by ' + params.metadata.name"
"""
BY_NAME = SPEC % "name: limits, parameterNotFoundAction: Deny"


def scaled(replicas: int, namespace: str = "ml") -> Object:
    metadata = {"name": "d", "namespace": namespace}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": {"replicas": replicas}}


def limits(most: str, name: str = "limits", namespace: str = "ml", **labels: str) -> Object:
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"most": most}}


def test_the_object_of_a_name_is_read_in_the_namespace_of_the_request(judge: Any) -> None:
    objects = [limits("3"), limits("9", namespace="other")]
    assert judge(BY_NAME, scaled(3), objects=objects).allowed
    (finding,) = judge(BY_NAME, scaled(4), objects=objects).findings
    assert finding.message == "at most 3 by limits"
    assert judge(BY_NAME, scaled(4, "other"), objects=objects).allowed


def test_a_namespace_that_is_given_counts_for_all(judge: Any) -> None:
    policy = SPEC % "name: limits, namespace: central, parameterNotFoundAction: Deny"
    objects = [limits("3"), limits("9", namespace="central")]
    assert judge(policy, scaled(9), objects=objects).allowed


def test_each_object_that_a_selector_picks_is_asked_by_itself(judge: Any) -> None:
    policy = SPEC % "selector: {matchLabels: {limit: all}}, parameterNotFoundAction: Deny"
    objects = [limits("5", "five", limit="all"), limits("3", "three", limit="all"), limits("1", "one")]
    assert judge(policy, scaled(3), objects=objects).allowed
    assert [one.message for one in judge(policy, scaled(4), objects=objects).findings] == ["at most 3 by three"]
    assert [one.message for one in judge(policy, scaled(6), objects=objects).findings] == [
        "at most 5 by five",
        "at most 3 by three",
    ]


def test_without_the_object_a_request_is_refused_or_passes_as_the_binding_says(judge: Any) -> None:
    decision = judge(BY_NAME, scaled(1), objects=[])
    assert not decision.allowed
    assert [(one.outcome, one.rule) for one in decision.findings] == [(Outcome.ERROR, "params")]
    assert "there is no ConfigMap ml/limits, and parameterNotFoundAction is `Deny`" in decision.findings[0].message
    assert judge(BY_NAME.replace("Deny", "Allow"), scaled(99), objects=[]).allowed


@pytest.mark.parametrize(("line", "allowed"), [("validationActions: [Warn]", False), ("failurePolicy: Ignore", True)])
def test_a_missing_object_denies_even_where_rules_only_warn_but_not_against_the_failure_policy(
    line: str, allowed: bool, judge: Any
) -> None:
    assert judge(f"{line}\n{BY_NAME}", scaled(1), objects=[]).allowed is allowed


def test_an_object_that_nobody_knows_leaves_the_policy_unchecked(judge: Any) -> None:
    (finding,) = judge(BY_NAME, scaled(1), objects=None).findings
    assert (finding.outcome, finding.message) == (Outcome.SKIP, "not checked: needs ConfigMap")


def test_a_request_without_a_namespace_has_no_params_of_its_own(judge: Any) -> None:
    cluster_wide = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "spec": {"replicas": 1}}
    (finding,) = judge(BY_NAME, cluster_wide, objects=[limits("3")]).findings
    assert "params are ConfigMaps of the request's namespace, and it has none" in finding.message


def test_the_params_of_a_namespace_are_those_in_it(judge: Any) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ml"}, "spec": {"replicas": 4}}
    assert judge(BY_NAME, namespace, objects=[limits("4")]).allowed
    assert not judge(BY_NAME, namespace, objects=[limits("3")]).allowed


def test_a_definition_says_that_a_kind_lives_in_namespaces(judge: Any) -> None:
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "limits.e.org"},
        "spec": {"group": "e.org", "names": {"kind": "Limit", "plural": "limits"}, "scope": "Namespaced"},
    }
    policy = (SPEC % "name: l, parameterNotFoundAction: Allow").replace("v1, kind: ConfigMap", "e.org/v1, kind: Limit")
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "spec": {"replicas": 1}}
    assert judge(policy, node, objects=[]).allowed
    (finding,) = judge(policy, node, objects=[definition]).findings
    assert "params are Limits of the request's namespace, and it has none" in finding.message


def test_a_kind_without_namespaces_is_found_from_any(judge: Any) -> None:
    policy = (SPEC % "selector: {}, parameterNotFoundAction: Deny").replace(
        "v1, kind: ConfigMap", "e.org/v1, kind: Limit"
    )
    limit = {"apiVersion": "e.org/v1", "kind": "Limit", "metadata": {"name": "l"}, "data": {"most": "2"}}
    assert judge(policy, scaled(2), objects=[limit]).allowed
    assert not judge(policy, scaled(3), objects=[limit]).allowed


def test_a_policy_that_is_not_about_the_request_looks_nothing_up(judge: Any) -> None:
    policy = (
        BY_NAME
        + """
matchConstraints:
  resourceRules:
  - {apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], operations: ["*"]}
  objectSelector: {matchLabels: {a: b}}
"""
    )
    decision = judge(policy, scaled(9), objects=[])
    assert decision.allowed
    assert not decision.findings


def test_match_conditions_read_the_params_too(judge: Any) -> None:
    policy = BY_NAME + "matchConditions: [{name: switched-on, expression: params.data.most != '0'}]\n"
    assert judge(policy, scaled(9), objects=[limits("0")]).allowed
    assert not judge(policy, scaled(9), objects=[limits("1")]).allowed


def test_without_a_reference_the_params_are_null(judge: Any) -> None:
    policy = "paramKind: {apiVersion: v1, kind: ConfigMap}\nvalidations: [{expression: params == null}]"
    assert judge(policy, scaled(1), objects=[]).allowed


def test_an_update_of_what_broke_the_rule_before_is_compared_with_the_same_params(judge: Any) -> None:
    policy = SPEC % "selector: {}, parameterNotFoundAction: Deny"
    objects = [limits("5", "five"), limits("3", "three")]
    findings = judge(policy, scaled(6), old=scaled(4), operation="UPDATE", objects=objects).findings
    assert [(one.outcome, one.message) for one in findings] == [
        (Outcome.DENY, "at most 5 by five"),
        (Outcome.WARN, "at most 3 by three"),
    ]


def test_changes_are_made_once_for_each_object_and_later_rules_see_them_all(judge: Any, link: Any) -> None:
    labels = """
    paramKind: {apiVersion: v1, kind: ConfigMap}
    paramRef: {selector: {}, parameterNotFoundAction: Deny}
    mutations:
    - patchType: ApplyConfiguration
      applyConfiguration: {expression: "Object{metadata: Object.metadata{labels: {params.metadata.name: params.data.most}}}"}
    """
    both = "validations: [{expression: 'object.metadata.labels.size() == 2'}]"
    decision = judge(link(labels, both), scaled(1), objects=[limits("5", "five"), limits("3", "three")])
    assert decision.allowed
    assert decision.object["metadata"]["labels"] == {"five": "5", "three": "3"}


def test_a_secret_that_is_the_params_tells_nothing(judge: Any) -> None:
    secret = limits("3") | {"kind": "Secret"}
    (finding,) = judge(BY_NAME.replace("ConfigMap", "Secret"), scaled(4), objects=[secret]).findings
    assert "at most" not in finding.message
