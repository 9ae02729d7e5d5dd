from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Said = Callable[..., list[str]]

CLUSTERS = {
    "apiGroups": ["apps.cozystack.io"],
    "apiVersions": ["*"],
    "resources": ["kuberneteses"],
    "operations": ["CREATE"],
}
PODS = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}
ANYTHING = {"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"], "operations": ["CREATE"]}


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (
            "object.?spec.?varriant.orValue('') == 'a'",
            "`object.?spec` has no field `varriant`; did you mean `variant`?",
        ),
        ("has(object.specs)", "Package has no field `specs`; did you mean `spec`?"),
        (
            "object.?spec.?components.orValue({}).all(n, c, c.?enabeld.orValue(true))",
            "`c` has no field `enabeld`; did you mean `enabled`?",
        ),
        (
            "object.?spec.optMap(s, type(s) == map ? s : {}).orValue({}).?varriant.orValue('') == 'a'",
            "`object.?spec.optMap(s, type(s) == map ? s : {}).orValue({})` has no field `varriant`; did you mean `variant`?",
        ),
        ("object[?'specs'].hasValue()", "Package has no field `specs`; did you mean `spec`?"),
    ],
)
def test_a_field_that_no_matched_kind_has_is_told_with_its_near_match(
    said: Said, expression: str, message: str
) -> None:
    assert said(expression) == [f"unknown-field: {message}"]


@pytest.mark.parametrize(
    "expression",
    [
        "object.?spec.?components.?anything.?values.?whatever.orValue('') == 'a'",
        "object.?metadata.?labels.?anything.orValue('') == 'a'",
        "object.?status.?conditions.orValue([]).all(c, c.type != '')",
    ],
)
def test_what_is_free_takes_every_name(said: Said, expression: str) -> None:
    assert said(expression) == []


def test_a_field_of_one_of_several_kinds_and_releases_is_known(said: Said) -> None:
    rules = [CLUSTERS, {**CLUSTERS, "resources": ["vminstances"]}]
    assert said("object.?spec.?nodeGroups.orValue({}) != {} || object.?spec.?gpus.orValue([]) != []", rules=rules) == []


def test_a_release_that_has_a_field_must_be_in_the_range(said: Said) -> None:
    rule = "!object.?spec.?addons.?hami.hasValue()"
    assert said(rule, rules=CLUSTERS) == []
    (told,) = said(rule, rules=CLUSTERS, releases="<1.3")
    assert told.startswith("unknown-field: `object.?spec.?addons` has no field `hami`")


def test_nothing_is_said_of_kinds_that_nobody_knows(said: Said) -> None:
    assert said("object.?spec.?whatever.orValue('') == 1", rules=ANYTHING) == []


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (
            "object.?spec.?hostNetwork.orValue(false) == 'true'",
            "wrong-type: `object.?spec.?hostNetwork.orValue(false)` is true or false, and is compared with text: always",
        ),
        (
            "object.metadata.name == 1 || object.spec.containers[0].name != 2",
            "wrong-type: `object.metadata.name` is text, and is compared with a number or a whole number: always false",
        ),
        (
            "object.?spec.?priority.orValue(0).startsWith('a')",
            "wrong-type: `object.?spec.?priority.orValue(0)` is a whole number, want text for `startsWith`",
        ),
        ("size(object.?spec.?priority.orValue(0)) > 1", "wrong-type: `object.?spec.?priority.orValue(0)` is a whole"),
    ],
)
def test_a_value_of_another_type_is_told(said: Said, expression: str, message: str) -> None:
    assert said(expression, rules=PODS)[0].startswith(message)


@pytest.mark.parametrize(
    "expression",
    [
        "object.?spec.?priority.orValue(0) > 1.5",
        "object.spec.containers.all(c, string(c.?resources.?limits.?cpu.orValue('0')) != '1')",
        "object.spec.containers.all(c, c.?resources.?limits.?cpu.optMap(v, quantity(v).isInteger()).orValue(true))",
        "object.?spec.?hostNetwork.orValue(false) == object.?spec.?hostPID.orValue(false)",
        "object.?spec.?priority.orValue(null) == null",
        "'a' in object.?metadata.?labels.orValue({})",
    ],
)
def test_values_of_a_type_that_fits_are_fine(said: Said, expression: str) -> None:
    assert said(expression, rules=PODS) == []


def test_a_quantity_that_may_be_a_number_has_to_be_made_text(said: Said) -> None:
    rule: Any = "object.?spec.?nodeGroups.orValue({}).all(n, g, quantity(g.?resources.?cpu.orValue('1')).isInteger())"
    typed = "object.?spec.?nodeGroups.orValue({}).all(n, g, g.?resources.?cpu.optMap(v, type(v) == string ? quantity(v).isInteger() : true).orValue(true))"
    assert [one.partition(":")[0] for one in said(rule, rules=CLUSTERS)] == ["perhaps-wrong-type"]
    assert said(typed, rules=CLUSTERS) == []


@pytest.mark.parametrize(
    ("mutation", "told"),
    [
        ("[JSONPatch{op: 'add', path: '/spec/varriant', value: 'a'}]", "changes `spec.varriant`, and there is no field `varriant`"),
        ("[JSONPatch{op: 'add', path: '/spec/components/a/valuez/' + object.metadata.name, value: 'a'}]", "changes `spec.components.a.valuez`, and"),
        ("[JSONPatch{op: 'move', from: '/spec/variants', path: '/spec/variant'}]", "changes `spec.variants`, and"),
        ("[JSONPatch{op: 'add', path: '/spec/ignoreDependencies/-', value: 'a'}]", ""),
        ("[JSONPatch{op: 'add', path: '/metadata/labels/whatever', value: 'a'}]", ""),
        ("[JSONPatch{op: 'add', path: '/spec/components/a/values/what/ever', value: 'a'}]", ""),
    ],
)  # fmt: skip
def test_a_change_of_a_field_that_nobody_has_is_told(said: Said, mutation: str, told: str) -> None:
    found = said(mutations=[{"patchType": "JSONPatch", "jsonPatch": {"expression": mutation}}])
    assert [one.startswith(f"unknown-field: {told}") for one in found] == [True] * bool(told)


def test_a_part_of_an_object_to_merge_has_fields_that_there_are(said: Said) -> None:
    merged = "Object{spec: Object.spec{variant: 'a', ignoreDependency: ['b']}}"
    (told,) = said(mutations=[{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": merged}}])
    assert told.endswith("no field `ignoreDependency`; did you mean `ignoreDependencies`?")


SERVICES = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["services"], "operations": ["CREATE"]}


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("object.?spec.?type.orValue('') != 'NodePrt'", "the field is never `NodePrt`; did you mean `NodePort`?"),
        ("!(object.?spec.?type.orValue('') in ['NodePort', 'LoadBalancers'])", "the field is never `LoadBalancers`"),
        ("object.?spec.?type.orValue('none') != 'none'", ""),
        ("object.?spec.?type.orValue('') != 'NodePort'", ""),
        ("object.?spec.?type.orValue(object.metadata.name) != 'any'", ""),
        ("object.metadata.name != 'any'", ""),
    ],
)
def test_a_text_that_a_field_cannot_be_is_told(said: Said, expression: str, told: str) -> None:
    found = said(expression, rules=SERVICES)
    assert [one.startswith("unknown-value: ") and told in one for one in found] == [True] * bool(told)
