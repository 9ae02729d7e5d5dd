from __future__ import annotations

from collections.abc import Callable
from typing import Any

Together = Callable[..., list[str]]

PODS = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}
RULE = "object.?spec.?variant.orValue('') != 'a'"


def patch(path: str) -> dict[str, Any]:
    operation = f"[JSONPatch{{op: 'add', path: '{path}', value: 'a'}}]"
    return {"mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": operation}}]}


def apply(expression: str) -> dict[str, Any]:
    return {"mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}]}


def test_the_same_rule_twice_is_told(together: Together) -> None:
    first, second = {"rules_": (RULE,)}, {"rules_": (RULE.replace("  ", " "),)}
    (told,) = together(a=first, b=second)
    assert told.startswith("b: duplicate-rule: the same rule stands in `a`, policy.yaml:")


def test_variables_are_looked_through(together: Together) -> None:
    with_variable = {
        "rules_": ("variables.v != 'a'",),
        "variables": [{"name": "v", "expression": "object.?spec.?variant.orValue('')"}],
    }
    other = {
        "rules_": ("variables.w != 'a'",),
        "variables": [{"name": "w", "expression": "object.?spec.?variant.orValue('')"}],
    }
    assert len(together(a=with_variable, b=other)) == 1


def test_rules_of_other_kinds_releases_or_conditions_are_not_the_same(together: Together) -> None:
    condition = [{"name": "c", "expression": "object.metadata.name == 'x'"}]
    rule = "object.metadata.name != 'a'"
    assert together(a={"rules_": (rule,)}, b={"rules_": (rule,), "rules": PODS}) == []
    assert together(a={"rules_": (rule,), "releases": "<1.5"}, b={"rules_": (rule,), "releases": ">=1.5"}) == []
    assert together(a={"rules_": (rule,)}, b={"rules_": (rule,), "matchConditions": condition}) == []


def test_two_policies_that_change_the_same_place_are_told(together: Together) -> None:
    (told,) = together(a=patch("/metadata/labels/x"), b=apply("Object{metadata: Object.metadata{labels: {'x': 'b'}}}"))
    assert told == "b: overlapping-mutations: `a` changes `metadata.labels.x`, too"
    assert together(a=patch("/metadata/labels/x"), b=patch("/metadata/labels/y")) == []
    assert together(a=patch("/metadata/labels/x"), b={**patch("/metadata/labels/x"), "rules": PODS}) == []
