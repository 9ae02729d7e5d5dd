from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from webhook.admission.structures import Structure, builtin, cozystack, described
from webhook.model.path import render
from webhook.model.request import GroupVersionKind, Object
from webhook.sources.schemas import Fault, conform, decodes

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "labels", "containers"]), inner),
    max_leaves=5,
)


def native(kind: str, api_version: str = "v1") -> Structure:
    found = builtin(GroupVersionKind.of({"apiVersion": api_version, "kind": kind}))
    assert found
    return found


def custom(**properties: Any) -> Structure:
    return described({"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}})


def said(obj: Object, structure: Structure) -> list[str]:
    return [f"{render(fault.path)}: {fault.message}" for fault in conform(obj, structure)]


def of_spec(spec: dict[str, Any], **properties: Any) -> list[str]:
    return said({"apiVersion": "a/v1", "kind": "A", "metadata": {"name": "a"}, "spec": spec}, custom(**properties))


def test_a_number_among_labels_is_no_text() -> None:
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "labels": {"commit": 811110}}}
    fault = Fault(("metadata", "labels", "commit"), "got `811110`, want text; put it in quotes", undecodable=True)
    assert conform(obj, native("ConfigMap")) == [fault]


def test_a_field_that_is_misspelt_is_pointed_at_by_its_name() -> None:
    obj = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"container": [], "containers": []}}
    (fault,) = conform(obj, native("Pod"))
    assert fault.of_key
    assert fault.message == "unknown field; did you mean `containers`?"
    assert not fault.undecodable


def test_everything_is_found_at_once_in_the_order_of_writing() -> None:
    obj = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "a"},
        "spec": {"replicas": "3", "selector": None, "template": {"spec": {"containers": [{"image": "a"}]}}},
    }
    assert said(obj, native("Deployment", "apps/v1")) == [
        "spec.replicas: got `3`, want a whole number",
        "spec.template.spec.containers[0]: no `spec.template.spec.containers[0].name`, which is required",
        "spec: no `spec.selector`, which is required",
    ]


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("replicas", 1 << 31, "got `2147483648`, want a whole number of 32 bits"),
        ("replicas", 1.5, "got `1.5`, want a whole number"),
        ("paused", "true", "got `true`, want true or false"),
        ("selector", [], "got a list, want a map"),
    ],
)
def test_what_go_cannot_decode_is_never_an_object(field: str, value: Any, message: str) -> None:
    spec = {"selector": {}, "template": {"spec": {"containers": []}}, field: value}
    obj = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}, "spec": spec}
    assert [(each.message, each.undecodable) for each in conform(obj, native("Deployment", "apps/v1"))] == [
        (message, True)
    ]


@pytest.mark.parametrize("value", [1, 0.5, "500m", "1e3", "2Gi"])
def test_a_quantity_is_a_number_or_a_text_that_says_one(value: Any) -> None:
    limits = {"limits": {"cpu": value}}
    spec = {"containers": [{"name": "a", "resources": limits}]}
    assert not said({"apiVersion": "v1", "kind": "Pod", "metadata": {}, "spec": spec}, native("Pod"))


def test_a_quantity_is_read_as_kubernetes_reads_it() -> None:
    spec = {"containers": [{"name": "a", "resources": {"limits": {"cpu": "two"}}}]}
    assert said({"apiVersion": "v1", "kind": "Pod", "metadata": {}, "spec": spec}, native("Pod")) == [
        "spec.containers[0].resources.limits.cpu: got `two`, want a quantity, such as `500m` or `2Gi`"
    ]


def test_data_of_secrets_is_base64() -> None:
    obj = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "data": {"a": "aGk", "b": "aGk="}}
    assert [render(fault.path) for fault in conform(obj, native("Secret"))] == ["data.a"]


def test_null_is_nothing_to_a_kind_of_kubernetes_itself() -> None:
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "creationTimestamp": None}, "data": None}
    assert not said(obj, native("ConfigMap"))


def test_null_is_a_value_in_a_list_of_a_custom_resource_and_nothing_elsewhere() -> None:
    assert not of_spec({"a": None}, a={"type": "string"})
    assert of_spec({"a": [None]}, a={"type": "array", "items": {"type": "string"}}) == [
        "spec.a[0]: got null, want text"
    ]
    assert not of_spec({"a": [None]}, a={"type": "array", "items": {"type": "string", "nullable": True}})


def test_an_embedded_resource_says_what_it_is() -> None:
    assert of_spec({"a": {"kind": "A"}}, a={"type": "object", "x-kubernetes-embedded-resource": True}) == [
        "spec.a: no `spec.a.apiVersion`, which a resource within another needs"
    ]


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        ({"type": "string", "enum": ["left", "right"]}, "letf", "got `letf`, want one of `left`, `right`; did you mean `left`?"),
        ({"type": "string", "pattern": "^[a-z]+$"}, "A", "got `A`, want text that matches `^[a-z]+$`"),
        ({"type": "string", "minLength": 2}, "é", "got 1 characters, want 2 at least"),
        ({"type": "integer", "maximum": 3}, 4, "got `4`, want at most 3"),
        ({"type": "number", "minimum": 0, "exclusiveMinimum": True}, 0, "got `0`, want more than 0"),
        ({"type": "integer", "multipleOf": 2}, 3, "got `3`, want a multiple of 2"),
        ({"type": "array", "items": {}, "maxItems": 1}, [1, 2], "got 2 items, want 1 at most"),
        ({"type": "object", "additionalProperties": {}, "minProperties": 1}, {}, "got 0 entries, want 1 at least"),
        ({"type": "string", "format": "date-time"}, "today", "got `today`, want a time as in RFC 3339, such as `2026-01-31T12:00:00Z`"),
        ({"x-kubernetes-int-or-string": True}, 1.5, "got `1.5`, want a whole number or text"),
        ({"type": "string", "not": {"enum": ["a"]}}, "a", "has the one form that it must not have"),
        ({"type": "string", "anyOf": [{"minLength": 3}, {"enum": ["a"]}]}, "b", "fits none of the 2 forms that it can have"),
        ({"type": "string", "oneOf": [{"minLength": 1}, {"enum": ["a"]}]}, "a", "fits 2 of 2 forms, of which it must have one"),
        ({"type": "string", "allOf": [{"minLength": 3}]}, "b", "got 1 characters, want 3 at least"),
    ],
)  # fmt: skip
def test_what_a_schema_says_of_a_value_is_checked(schema: dict[str, Any], value: Any, message: str) -> None:
    assert of_spec({"a": value}, a=schema) == [f"spec.a: {message}"]


def test_entries_of_one_key_and_values_of_a_set_stand_there_once() -> None:
    keyed = {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        "items": {"type": "object", "properties": {"name": {"type": "string"}}},
    }
    assert of_spec({"a": [{"name": "x"}, {"name": "y"}, {"name": "x"}]}, a=keyed) == [
        "spec.a[2]: `x` stands there already, at `spec.a[0]`"
    ]
    listed = {"type": "array", "x-kubernetes-list-type": "set", "items": {}}
    assert of_spec({"a": [1, True, 1]}, a=listed) == ["spec.a[2]: `1` stands there already, at `spec.a[0]`"]


def test_what_keeps_unknown_fields_still_checks_those_it_declares() -> None:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"b": {"type": "string"}}}
    assert of_spec({"a": {"b": 1, "c": 1}}, a=schema) == ["spec.a.b: got `1`, want text; put it in quotes"]


def test_a_map_without_fields_takes_none_in_a_custom_resource() -> None:
    assert of_spec({"a": {"b": 1}}, a={"type": "object"}) == ["spec.a.b: unknown field"]


def test_an_embedded_resource_has_metadata_like_any_other() -> None:
    schema = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
    assert of_spec(
        {"a": {"apiVersion": "v1", "kind": "A", "metadata": {"labels": {"b": True}}, "spec": {}}}, a=schema
    ) == ["spec.a.metadata.labels.b: got `true`, want text; put it in quotes"]


def test_below_status_only_names_count() -> None:
    structure = described(
        {"type": "object", "properties": {"status": {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}}}
    )  # fmt: skip
    assert not said({"status": {}}, structure)
    assert said({"status": {"a": 1, "other": 1}}, structure) == ["status.other: unknown field"]


def test_each_release_has_its_own_kinds() -> None:
    kind = GroupVersionKind("apps.cozystack.io", "v1alpha1", "KubernetesNodes")
    assert cozystack(kind, "1.6")
    assert not cozystack(kind, "1.4")
    assert cozystack(kind, "1.7"), "the newest stands for what is not known"


def test_values_of_a_package_are_free() -> None:
    structure = cozystack(GroupVersionKind("cozystack.io", "v1alpha1", "Package"), "1.6")
    assert structure
    obj = {"metadata": {}, "spec": {"variants": "a", "components": {"b": {"values": {"c": [1]}, "value": 1}}}}
    assert said(obj, structure) == [
        "spec.variants: unknown field; did you mean `variant`?",
        "spec.components.b.value: unknown field; did you mean `values`?",
    ]


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(JSON)
def test_whatever_stands_there_is_answered_the_same_in_short_and_in_detail(value: Any) -> None:
    for spec in (value, {"containers": value}, {"containers": [value]}, {"nodeSelector": value}):
        obj = {"apiVersion": "v1", "kind": "Pod", "metadata": value, "spec": spec, "status": value}
        assert decodes(obj) is not any(fault.undecodable for fault in conform(obj, native("Pod")))
        assert all(fault.message for fault in conform(obj, custom(a={"x-kubernetes-int-or-string": True})))
