from typing import Any

import pytest

from webhook.engine.patch import apply

MUTATING = "MutatingWebhookConfiguration"


@pytest.mark.parametrize(
    ("check", "level", "changes", "beside"),
    [
        ("timeout", "remark", {"timeoutSeconds": 11}, {"timeoutSeconds": 10}),
        ("side-effects", "error", {"sideEffects": "Unknown"}, {"sideEffects": "NoneOnDryRun"}),
        (
            "review-versions",
            "warning",
            {"admissionReviewVersions": ["v1beta1"]},
            {"admissionReviewVersions": ["v1", "v1beta1"]},
        ),
        ("match-policy", "warning", {"matchPolicy": "Exact"}, {"matchPolicy": "Equivalent"}),
    ],
)
def test_a_setting_is_found_and_the_one_beside_it_is_not(
    check: str, level: str, changes: Any, beside: Any, doctor: Any, hook: Any, registration: Any
) -> None:
    found = doctor(registration(hook(**changes)))
    assert found.checks == {check: level}
    assert found.field(check) == f"webhooks[0].{next(iter(changes))}"
    assert doctor(registration(hook(**beside))).checks == {}


def test_a_webhook_that_mutates_should_be_asked_again(doctor: Any, hook: Any, registration: Any) -> None:
    assert doctor(registration(hook(), kind=MUTATING)).checks == {"reinvocation": "remark"}
    assert doctor(registration(hook(reinvocationPolicy="IfNeeded"), kind=MUTATING)).checks == {}
    assert doctor(registration(hook())).checks == {}


@pytest.mark.parametrize("changes", [{"timeoutSeconds": 30}, {"sideEffects": "Some"}, {"matchPolicy": "Exact"}])
def test_the_fix_of_a_setting_works_as_printed(changes: Any, doctor: Any, hook: Any, registration: Any) -> None:
    obj = registration(hook(**changes))
    [one] = doctor(obj).diagnoses
    assert doctor(apply(obj, one.fix.patch)).checks == {}


def test_timeouts_of_webhooks_that_mutate_pods_add_up(
    doctor: Any, hook: Any, rule: Any, registration: Any, excluding: Any
) -> None:
    def line(seconds: int, kind: str = MUTATING) -> Any:
        tenants = {"matchLabels": {"kubernetes.io/metadata.name": "tenant-example"}}
        common = {"rules": [rule("pods")], "namespaceSelector": tenants, "reinvocationPolicy": "IfNeeded"}
        if kind != MUTATING:
            del common["reinvocationPolicy"]
        names = ("a.example.org", "b.example.org", "c.example.org", "d.example.org")
        return registration(*(hook(name=name, timeoutSeconds=seconds, **common) for name in names), kind=kind)

    assert doctor(line(10)).checks == {"timeouts-add-up": "remark"}
    assert doctor(line(7)).checks == {}
    assert doctor(line(10, "ValidatingWebhookConfiguration")).checks == {}


def test_a_condition_that_cannot_be_tested_is_told_and_taken_to_be_true(
    doctor: Any, hook: Any, rule: Any, registration: Any
) -> None:
    conditions = [{"name": "typo", "expression": "request.resource.resource =! 'leases'"}]
    found = doctor(registration(hook(rules=[rule("nodes")], matchConditions=conditions)))
    assert found.checks["match-condition"] == "warning"
    assert found.field("match-condition") == "webhooks[0].matchConditions[0].expression"
    assert "node-heartbeat" in found.checks
