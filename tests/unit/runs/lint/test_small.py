"""Messages, fixes, and what nobody reads."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Said = Callable[..., list[str]]

RULE = "object.metadata.name != 'a'"


@pytest.mark.parametrize(
    ("length", "actions", "told"),
    [
        (256, ["Warn"], []),
        (257, ["Warn"], ["long-message: 257 characters: a warning may be cut after 256"]),
        (257, ["Deny"], []),
    ],
)
def test_a_message_over_the_limits_is_told(said: Said, length: int, actions: list[str], told: list[str]) -> None:
    assert said({"expression": RULE, "message": "x" * length}, validationActions=actions) == told


def test_a_message_that_is_computed_and_never_shown_is_told(said: Said) -> None:
    rule = {"expression": RULE, "message": "no", "messageExpression": f"object.metadata.name + '{'x' * 5121}'"}
    assert said(rule) == ["long-message: 5121 bytes of text: more than 5,120 are not shown"]


@pytest.mark.parametrize(
    ("field", "patch", "told"),
    [
        ("metadata.labels.a", "{op: 'remove', path: '/metadata/labels/a'}", 0),
        ("metadata.labels", "{op: 'remove', path: '/metadata/labels/a'}", 0),
        ("metadata.labels.b", "{op: 'move', from: '/metadata/labels/b', path: '/metadata/labels/a'}", 0),
        ("metadata.labels.b", "{op: 'remove', path: '/metadata/labels/a'}", 1),
        ("spec.variant", "{op: 'remove', path: '/metadata/' + object.metadata.name}", 1),
    ],
)
def test_a_fix_of_another_place_than_the_field_is_told(said: Said, field: str, patch: str, told: int) -> None:
    fix = {"text": "do", "patchExpression": f"[JSONPatch{patch}]"}
    found = said({"expression": RULE, "message": "no", "field": field, "fix": fix})
    assert [one.partition(":")[0] for one in found] == ["fix-elsewhere"] * told


def test_an_element_is_any(said: Said) -> None:
    each = {"in": "object.?spec.?ignoreDependencies", "as": "one", "at": "i"}
    fix = {"text": "do", "patchExpression": "[JSONPatch{op: 'remove', path: '/spec/ignoreDependencies/' + string(i)}]"}
    rule = {
        "expression": "one != 'a'",
        "forEach": each,
        "field": "spec.ignoreDependencies[@]",
        "message": "no",
        "fix": fix,
    }
    assert said(rule) == []


def test_what_nobody_reads_is_told(said: Said) -> None:
    variables = [
        {"name": "a", "expression": "object.metadata.name"},
        {"name": "b", "expression": "variables.a"},
        {"name": "c", "expression": "object.metadata.name"},
    ]
    lookups = [{"name": "gpu", "apiVersion": "cozystack.io/v1alpha1", "kind": "Package", "objectName": "a"}]
    assert set(said("variables.c != 'a'", variables=variables, lookups=lookups)) == {
        "unused-variable: nothing reads `variables.a`",
        "unused-variable: nothing reads `variables.b`",
        "unused-lookup: nothing reads `lookups.gpu`",
    }


def test_params_that_nobody_reads_are_told(said: Said) -> None:
    params = {
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "paramRef": {"name": "a", "namespace": "b", "parameterNotFoundAction": "Deny"},
    }
    assert said(RULE, **params) == ["unused-params: nothing reads `params`"]
    assert said("object.metadata.name in params.?data.orValue({})", **params) == []
