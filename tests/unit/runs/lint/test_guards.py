from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Said = Callable[..., list[str]]

DELETE = {"apiGroups": ["cozystack.io"], "apiVersions": ["*"], "resources": ["packages"], "operations": ["DELETE"]}
PODS = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}
CRONJOBS = {"apiGroups": ["batch"], "apiVersions": ["*"], "resources": ["cronjobs", "jobs"], "operations": ["CREATE"]}
NAMESPACED = {**PODS, "resources": ["pods", "namespaces"]}
OFTEN = {"apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments"], "operations": ["*"]}


@pytest.mark.parametrize(
    ("expression", "said_of_it"),
    [
        ("object.spec.variant == 'a'", ["missing-guard: `object.spec` may be absent"]),
        (
            "has(object.spec.variant)",
            ["unguarded-has: `object.spec` may be absent, and has() tests the last step only"],
        ),
        ("'a' in object.spec.components", ["missing-guard: `object.spec` may be absent"]),
        ("has(object.spec) && object.spec.variant == 'a'", ["missing-guard: `object.spec.variant` may be absent"]),
        ("object.metadata.labels.a == 'b'", ["missing-guard: `object.metadata.labels` may be absent"]),
        ("object.spec.?variant.orValue('') == 'a'", ["missing-guard: `object.spec` may be absent"]),
    ],
)
def test_the_first_step_that_may_be_absent_is_told(said: Said, expression: str, said_of_it: list[str]) -> None:
    assert said(expression) == said_of_it


@pytest.mark.parametrize(
    "expression",
    [
        "object.?spec.?variant.orValue('') == 'a'",
        "object.?spec.variant.orValue('') == 'a'",
        "object.metadata.name == 'a' && object.kind == 'Package'",
        "has(object.spec) && has(object.spec.variant) && object.spec.variant == 'a'",
        "object.spec.variant == 'a' && has(object.spec.variant) && has(object.spec)",
        "!has(object.spec) || !has(object.spec.variant) || object.spec.variant == 'a'",
        "has(object.spec) && has(object.spec.variant) ? object.spec.variant == 'a' : true",
        "!(has(object.spec) && has(object.spec.variant)) ? true : object.spec.variant == 'a'",
        "object.?spec.?components.orValue({}).all(n, object.spec.components[n].?enabled.orValue(true))",
        "object.?spec.?variant.hasValue() && object.spec.variant == 'a'",
        "object.?spec.?variant.orValue('') != '' && object.spec.variant == 'a'",
        "object.?spec.?variant.optMap(v, v == 'a').orValue(false) && object.spec.variant == 'a'",
        "object.?spec.optMap(s, s.?variant.orValue('') == 'a').orValue(true)",
        "'a' in object.?spec.?components.orValue({}) && object.spec.components.a == object.spec.components['a']",
        "type(object.?spec.?variant.orValue(null)) == string && object.spec.variant == 'a'",
        "object.?spec.?ignoreDependencies.orValue([]).filter(d, d != '').all(d, d.startsWith('a'))",
    ],
)
def test_what_is_guarded_is_fine(said: Said, expression: str) -> None:
    assert said(expression) == []


@pytest.mark.parametrize(
    "condition",
    [
        "type(object.?spec.orValue({})) == map",
        "object.?spec.orValue({}) != null",
        "object.?spec.?variant.orValue('a') == 'a'",
        "(has(object.spec) ? object.spec : {}) != null",
        "object.?spec.?variant.orValue('') == ''",
        "object.?spec.?variant.orValue('a') != 'b'",
    ],
)
def test_what_holds_of_a_value_that_stands_in_guards_nothing(said: Said, condition: str) -> None:
    assert said(f"{condition} && object.spec.variant == 'a'") == ["missing-guard: `object.spec` may be absent"]


def test_what_the_api_server_always_fills_in_needs_no_guard(said: Said) -> None:
    assert said("object.spec.containers.all(c, c.name != '')", rules=PODS) == []
    assert said("object.spec.containers.all(c, c.image != '')", rules=PODS) == [
        "missing-guard: `c.image` may be absent"
    ]


def test_a_variable_is_guarded_where_it_is_read(said: Said) -> None:
    variables = [{"name": "variant", "expression": "object.spec.variant"}]
    guarded = "!has(object.spec) || !has(object.spec.variant) || variables.variant == 'a'"
    assert said(guarded, variables=variables) == []
    assert said("variables.variant == 'a'", variables=variables) == ["missing-guard: `object.spec` may be absent"]
    assert said(guarded, "variables.variant != 'b'", variables=variables) == [
        "missing-guard: `object.spec` may be absent"
    ]


def test_a_variable_can_be_the_guard(said: Said) -> None:
    variables = [{"name": "given", "expression": "has(object.spec) && has(object.spec.variant)"}]
    assert said("!variables.given || object.spec.variant == 'a'", variables=variables) == []


def test_a_condition_guards_rules_and_messages(said: Said) -> None:
    rule = {"expression": "object.spec.variant == 'a'", "messageExpression": "'got ' + object.spec.variant"}
    conditions = [{"name": "c", "expression": "has(object.spec) && has(object.spec.variant)"}]
    assert said(rule, matchConditions=conditions) == []


def test_a_message_that_can_fail_is_told_as_such(said: Said) -> None:
    rule = {"expression": "!has(object.spec)", "message": "no", "messageExpression": "'got ' + object.spec.variant"}
    assert said(rule) == ["failing-message: `object.spec.variant` may be absent"]


def test_a_rule_for_each_element_relies_on_there_being_one(said: Said) -> None:
    each = {"in": "object.?spec.?components", "as": "one", "at": "key"}
    assert (
        said({"expression": "size(object.spec.components) < 3 && one != null", "forEach": each, "message": "no"}) == []
    )


def test_the_kind_of_a_request_narrows_what_the_object_is(said: Said) -> None:
    template = "(request.kind.kind == 'CronJob' ? object.spec.jobTemplate.spec.template : object.spec.template)"
    assert said(f"{template}.spec.containers.size() > 0", rules=CRONJOBS) == []


@pytest.mark.parametrize(
    ("expression", "codes"),
    [
        ("object.metadata.name != 'a'", ["null-object: `object` is null on DELETE, which `operations` has"]),
        ("oldObject.metadata.name != 'a'", ["null-object: `oldObject` is null on CREATE, which `operations` has"]),
        ("object == null || object.metadata.name != 'a'", []),
        ("request.operation == 'DELETE' || object.metadata.name != 'a'", []),
        ("request.operation in ['CREATE', 'UPDATE'] ? object.metadata.name != 'a' : true", []),
        ("request.operation != 'UPDATE' || oldObject.metadata.name == object.metadata.name", []),
        ("has(object.metadata) && object.metadata.name != 'a'", []),
    ],
)
def test_an_object_is_null_in_some_operations(said: Said, expression: str, codes: list[str]) -> None:
    assert said(expression, rules=OFTEN) == codes


def test_namespaces_are_in_none(said: Said) -> None:
    rule = "namespaceObject.metadata.name != 'a'"
    assert said(rule) == ["null-namespace: `namespaceObject` is null for Package, which has no namespace"]
    assert said(rule, rules=NAMESPACED) == [
        "null-namespace: `namespaceObject` is null for Namespace, which has no namespace"
    ]
    assert said(rule, rules=PODS) == []
    assert said(f"namespaceObject == null || {rule}") == []


def test_a_lookup_of_one_object_may_find_none(said: Said) -> None:
    lookups: list[dict[str, Any]] = [
        {"name": "gpu", "apiVersion": "cozystack.io/v1alpha1", "kind": "Package", "objectName": "a"}
    ]
    assert said("lookups.gpu.metadata.name == 'a'", lookups=lookups) == [
        "null-elsewhere: `lookups.gpu` is null where there is none"
    ]
    assert said("lookups.gpu == null || lookups.gpu.metadata.name == 'a'", lookups=lookups) == []


def test_a_condition_about_several_kinds_guards_each(said: Said) -> None:
    config = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]}
    packages = {
        "apiGroups": ["cozystack.io"],
        "apiVersions": ["*"],
        "resources": ["packages"],
        "operations": ["CREATE"],
    }
    conditions = [
        {"name": "c", "expression": "request.kind.kind == 'Package' || has(object.data) && 'a' in object.data"}
    ]
    rule = "request.kind.kind == 'Package' ? true : object.data.a != ''"
    assert said(rule, rules=[config, packages], matchConditions=conditions) == []


def test_only_objects_in_namespaces_have_one(said: Said) -> None:
    assert said("object.metadata.namespace != 'a'", rules=PODS) == []
    assert said("object.metadata.namespace != 'a'") == ["missing-guard: `object.metadata.namespace` may be absent"]
