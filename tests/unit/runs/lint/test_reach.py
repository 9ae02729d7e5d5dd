from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Said = Callable[..., list[str]]

PACKAGES = {"apiGroups": ["cozystack.io"], "apiVersions": ["*"], "resources": ["packages"], "operations": ["CREATE"]}
PODS = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("true", "this rule is always true: it finds nothing"),
        ("object.kind == 'a' || true", "this rule is always true: it finds nothing"),
        ("object.kind == 'a' && 1 == 2", "this rule is always false: it refuses everything"),
        ("request.operation != 'DELETE'", "this rule is always true: it finds nothing"),
        ("request.kind.kind == 'Pod'", "this rule is always false: it refuses everything"),
        ("!('a' in ['a', 'b'])", "this rule is always false: it refuses everything"),
    ],
)
def test_a_rule_that_is_the_same_for_every_request_is_told(said: Said, expression: str, message: str) -> None:
    assert said(expression) == [f"constant-rule: {message}"]


def test_a_plain_false_refuses_all_that_is_matched(said: Said) -> None:
    assert said("false") == []


def test_a_condition_that_is_never_true_switches_its_policy_off(said: Said) -> None:
    condition = [{"name": "c", "expression": "request.operation == 'UPDATE'"}]
    assert said("object.kind != 'a'", matchConditions=condition) == [
        "constant-rule: this condition is always false: the policy is never asked"
    ]


def test_a_range_without_a_known_release_is_told(said: Said) -> None:
    (told,) = said("object.kind != 'a'", releases="<1.0")
    assert told.startswith("no-release: no known release is in `<1.0`: the catalogue has 1.0 to ")
    assert said("object.kind != 'a'", releases=">=1.5") == []


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"resources": ["pod"]}, "the core group has no resource `pod`; did you mean `pods`?"),
        ({"resources": ["Pods"]}, "the core group has no resource `Pods`; did you mean `pods`?"),
        ({"apiGroups": ["apps"]}, "`apps` has no resource `pods`"),
        ({"apiGroups": ["batch"], "resources": ["cronjobs"], "apiVersions": ["v1beta1"]}, "`cronjobs` is served as v1, not as v1beta1"),
    ],
)  # fmt: skip
def test_a_resource_that_nobody_serves_is_told(said: Said, changed: dict[str, Any], message: str) -> None:
    assert said("object.kind != 'a'", rules={**PODS, **changed})[0].startswith(f"no-resource: {message}")


@pytest.mark.parametrize("resource", ["pods/status", "pods/exec", "*", "*/*", "pods/*"])
def test_subresources_and_all_resources_are_served(said: Said, resource: str) -> None:
    assert said("object.kind != 'a'", rules={**PODS, "resources": [resource]}) == []


def test_of_groups_that_are_not_known_whole_nothing_is_said(said: Said) -> None:
    assert said("object.kind != 'a'", rules={**PACKAGES, "resources": ["workloads"]}) == []
