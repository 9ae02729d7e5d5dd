"""Where people and other engines stumble: whole rules as they are written, and what the API server answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from webhook.model.path import render


@pytest.mark.parametrize(("ratio", "expected"), [(10, True), (10.0, True), (2.5, True), (0.5, False), (21, False)])
def test_a_whole_number_compares_with_a_decimal(ratio: float, expected: bool, bench: Callable[..., Any]) -> None:
    made = bench("variables.r >= 1 && variables.r <= 20.0", variables={"r": "object.spec.cpuAllocationRatio"})
    assert made.outcome({"spec": {"cpuAllocationRatio": ratio}}) is expected


COMPONENTS = {"spec": {"components": {"kubevirt": {"enabled": True}, "kubevirt-types": {"enabled": False}}}}


def test_all_over_a_map_gives_keys_of_which_no_field_can_be_false(bench: Callable[..., Any]) -> None:
    as_written = bench("object.spec.components.all(c, !has(c.enabled) || c.enabled)")
    assert as_written.outcome(COMPONENTS) is True
    fixed = bench(
        "object.spec.components.all(n, !has(object.spec.components[n].enabled) || object.spec.components[n].enabled)"
    )
    trace = fixed.trace(COMPONENTS)
    assert trace.value is False
    assert render(trace.path) == "spec.components.kubevirt-types.enabled"


def test_has_with_a_missing_step_in_the_middle_is_an_error(bench: Callable[..., Any]) -> None:
    as_written = bench("!has(object.spec.components.kubevirt.values.gates)").trace({"spec": {}})
    assert as_written.error == "no such key: components"
    assert render(as_written.path) == "spec.components"
    guarded = bench(
        "!has(object.spec.components) || !('kubevirt' in object.spec.components)"
        " || !has(object.spec.components.kubevirt.values)"
        " || !has(object.spec.components.kubevirt.values.gates)"
    )
    assert guarded.outcome({"spec": {}}) is True


def test_on_delete_the_object_is_null_and_has_no_fields(bench: Callable[..., Any]) -> None:
    assert bench("object == null").value(None) is True
    assert bench("object.spec.variant in ['default']").trace(None).error == "no such key: spec"
    assert (
        bench("request.operation == 'DELETE' || object.spec.variant == 'x'").value(
            None, request={"operation": "DELETE"}
        )
        is True
    )


def test_a_missing_label_is_found_by_in_and_not_by_has(outcome: Callable[..., Any]) -> None:
    rule = "has(object.metadata.labels) && 'example.org/tier' in object.metadata.labels"
    assert outcome(rule, {"metadata": {"labels": {"example.org/tier": "gold"}}}) is True
    assert outcome(rule, {"metadata": {}}) is False
