from typing import Any

import pytest


def test_a_rule_about_everything_is_a_warning(doctor: Any, hook: Any, rule: Any, registration: Any) -> None:
    found = doctor(registration(hook(rules=[rule("*", group="*")])))
    assert found.checks["everything"] == "warning"
    assert found.field("everything") == "webhooks[0].rules[0].resources"


def test_every_resource_of_one_group_is_not_everything(doctor: Any, hook: Any, rule: Any, registration: Any) -> None:
    assert doctor(registration(hook(rules=[rule("*", group="cozystack.io")]))).checks == {}


def test_everything_under_ignore_blocks_nothing(doctor: Any, hook: Any, rule: Any, registration: Any) -> None:
    found = doctor(registration(hook(rules=[rule("*", group="*")], failurePolicy="Ignore")))
    assert "everything" not in found.checks


@pytest.mark.parametrize("resource", ["packages/status", "packages/scale", "packages/*", "*/*", "packages/finalizers"])
def test_a_subresource_is_found_at_its_entry(
    resource: str, doctor: Any, hook: Any, rule: Any, registration: Any
) -> None:
    found = doctor(registration(hook(rules=[rule(resource, group="cozystack.io")])))
    assert found.field("subresource") == "webhooks[0].rules[0].resources[0]"


def test_a_subresource_that_nobody_waits_for_is_not_found(doctor: Any, hook: Any, rule: Any, registration: Any) -> None:
    assert doctor(registration(hook(rules=[rule("pods/exec", operations=("CONNECT",))]))).checks == {}


@pytest.mark.parametrize("operation", ["DELETE", "*"])
def test_deletion_of_what_is_in_namespaces_is_a_warning(
    operation: str, doctor: Any, hook: Any, rule: Any, registration: Any
) -> None:
    found = doctor(registration(hook(rules=[rule("kuberneteses", group="apps.cozystack.io", operations=(operation,))])))
    assert found.checks == {"deletion": "warning"}
    assert found.field("deletion") == "webhooks[0].rules[0].operations"


@pytest.mark.parametrize(
    "changes",
    [
        {"failurePolicy": "Ignore"},
        {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "one"}}},
        {
            "matchConditions": [
                {
                    "name": "cleaning-up",
                    "expression": "request.userInfo.username != 'system:serviceaccount:kube-system:namespace-controller'",
                }
            ]
        },
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_deletion_that_the_namespace_controller_may_do_is_not_found(
    changes: dict[str, Any], doctor: Any, hook: Any, rule: Any, registration: Any
) -> None:
    rules = [rule("kuberneteses", group="apps.cozystack.io", operations=("DELETE",))]
    assert doctor(registration(hook(rules=rules) | changes)).checks == {}


def test_deletion_of_what_is_in_no_namespace_keeps_no_namespace(
    doctor: Any, hook: Any, rule: Any, registration: Any
) -> None:
    rules = [rule("packagesources", group="cozystack.io", operations=("DELETE",))]
    assert doctor(registration(hook(rules=rules))).checks == {}


@pytest.mark.parametrize(
    ("requirement", "level"),
    [
        ({"key": "skip", "operator": "DoesNotExist"}, "warning"),
        ({"key": "skip", "operator": "NotIn", "values": ["yes"]}, "warning"),
        ({"key": "judge", "operator": "Exists"}, "remark"),
    ],
)
def test_a_label_that_lets_an_object_escape_is_found(
    requirement: dict[str, Any], level: str, doctor: Any, hook: Any, registration: Any
) -> None:
    found = doctor(registration(hook(objectSelector={"matchExpressions": [requirement]})))
    assert found.checks == {"escape": level}
    assert found.field("escape") == "webhooks[0].objectSelector"


def test_an_empty_object_selector_lets_nothing_escape(doctor: Any, hook: Any, registration: Any) -> None:
    assert doctor(registration(hook(objectSelector={}))).checks == {}
