"""What is kept of an object: enough for expressions to decide the same, and no more."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webhook.cel.activation import Activation
from webhook.cel.errors import ERRORS
from webhook.cel.needs import Needs
from webhook.cel.program import ADMISSION, Builder, Linked, SlotTable
from webhook.cluster.keep import Keep

EXPRESSIONS = (
    "lookups.x == null",
    "lookups.x.spec.a == 1",
    "lookups.x.spec == {'a': 1}",
    "has(lookups.x.spec.a) && has(lookups.x.spec.a.b)",
    "lookups.x.?spec.?a.hasValue()",
    "lookups.x.?spec.?a.?b.orValue(0) == 1",
    "lookups.x.?spec.optMap(s, type(s) == map ? s : {}).orValue({}).?a.orValue('b') == 'b'",
    "lookups.x.?spec.optMap(s, true).orValue(false)",
    "type(lookups.x.spec.a) == list",
    "size(lookups.x.spec.a) == 2",
    "lookups.x.spec.a.size() == lookups.x.spec.size()",
    "lookups.x.spec.a.all(i, true)",
    "lookups.x.spec.a.exists(i, i == 'b')",
    "lookups.x.spec.a.exists(i, has(i.b))",
    "lookups.x.spec.a.all(i, v, v != 1)",
    "lookups.x.spec.a.filter(i, i.b == 1)[0].a == 'b'",
    "lookups.x.spec.a.map(i, i.b) == [1]",
    "lookups.x.spec.a.sortBy(i, i.b)[0].a == 1",
    "lookups.x.spec.transformList(k, v, k + string(v)) == ['a1']",
    "lookups.x.spec.transformMap(k, v, v)['a'] == 1",
    "(lookups.x.spec.a + lookups.x.spec.b).size() == 2",
    "(lookups.x.spec.a + lookups.x.spec.b)[1] == 1",
    "lookups.x.spec[lookups.x.spec.b] == 1",
    "lookups.x.spec.?a[?0].?b.orValue(2) == 1",
    "lookups.x.spec.a[1.0] == 1",
    "'a' in lookups.x.spec",
    "1 in lookups.x.spec.a",
    "(lookups.x.spec.a == null ? lookups.x.spec.b : lookups.x.spec.a).b == 1",
    "[1].map(i, lookups.x)[0].spec.a == 1",
    "variables.a.exists(i, i.b == 1) && variables.a.size() > 1",
    "lookups.x.metadata.labels.a == 'b'",
    "lookups.x.metadata.?annotations[?'a'].orValue('') == 'b'",
    "string(lookups.x.spec.a) == 'b'",
    "lookups.x.spec.a.startsWith('a')",
)

SCALARS = st.sampled_from([None, True, 0, 1, 1.5, "", "a", "b"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.builds(
    lambda spec, labels: {"metadata": {"name": "n", "labels": labels, "annotations": labels}} | spec,
    st.dictionaries(st.sampled_from(["spec", "status"]), VALUES),
    st.dictionaries(st.sampled_from(["a", "b"]), st.sampled_from(["a", "b"])),
)


@cache
def linked(text: str) -> tuple[Linked, int]:
    builder = Builder(ADMISSION)
    builder.outside("x", "x", "dyn")
    builder.variable("a", "lookups.x.?spec.?a.orValue([])")
    builder.function("f", text)
    slots = SlotTable()
    return builder.build().link(slots), len(slots)


def outcome(text: str, obj: Any) -> Any:
    program, size = linked(text)
    try:
        return program.functions["f"](Activation(size=size, fetch=lambda key, activation: obj))
    except ERRORS:
        return "an error"


@settings(deadline=None)  # each expression is compiled when it first comes
@given(st.sampled_from(EXPRESSIONS), OBJECTS)
def test_an_expression_decides_the_same_about_what_is_kept(text: str, obj: dict[str, Any]) -> None:
    keep = Keep(linked(text)[0].needs("lookups.x"))
    assert outcome(text, keep(obj)) == outcome(text, obj)


def keep(text: str, obj: Mapping[str, Any], **options: bool) -> dict[str, Any]:
    return Keep(linked(text)[0].needs("lookups.x"), **options)(dict(obj))


METADATA = {
    "name": "n",
    "namespace": "ns",
    "uid": "u",
    "resourceVersion": "1",
    "labels": {"a": "b"},
    "annotations": {"a": "b", "kubectl.kubernetes.io/last-applied-configuration": "{}"},
    "managedFields": [{}],
}
VM = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "VirtualMachine",
    "metadata": METADATA,
    "spec": {"devices": [{"name": "a", "deviceName": "gpu"}, {"name": "b"}], "running": True},
    "status": {"phase": "Running"},
}


def test_what_makes_an_object_is_always_kept() -> None:
    kept = Keep(Needs())(VM)
    always = ("name", "namespace", "uid", "resourceVersion", "labels")
    assert kept == {
        **{key: VM[key] for key in ("apiVersion", "kind")},
        "metadata": {key: METADATA[key] for key in always},
    }


def test_no_more_is_kept_of_a_list_than_is_read_of_its_elements() -> None:
    kept = keep("lookups.x.spec.devices.exists(d, d.name == 'a')", VM)
    assert kept["spec"] == {"devices": [{"name": "a"}, {"name": "b"}]}
    assert "status" not in kept


def test_of_a_whole_object_only_the_noise_is_left_out() -> None:
    kept = keep("lookups.x == object", VM)
    assert kept["spec"] == VM["spec"]
    assert "managedFields" not in kept["metadata"]
    assert kept["metadata"]["annotations"] == {"a": "b"}


def test_the_object_itself_is_not_changed() -> None:
    keep("lookups.x == object", VM)
    assert "managedFields" in METADATA
    assert len(METADATA["annotations"]) == 2


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("lookups.x == object", {"user": "", "password": ""}),
        ("'user' in lookups.x.data", {"user": "", "password": ""}),
        ("lookups.x.data.size() == 2", {"user": "", "password": ""}),
        ("lookups.x.data.user == 'cm9vdA=='", {"user": "cm9vdA=="}),
        ("lookups.x == object && lookups.x.data.user == ''", {"user": "cm9vdA==", "password": ""}),
        ("lookups.x.data.all(k, v, v != '')", {"user": "cm9vdA==", "password": "c2VjcmV0"}),
        ("has(lookups.x.type)", None),
    ],
)
def test_no_value_of_a_secret_is_kept_that_no_rule_reads(text: str, data: dict[str, str] | None) -> None:
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "metadata": METADATA,
        "data": {"user": "cm9vdA==", "password": "c2VjcmV0"},
    }
    assert keep(text, secret, secret=True).get("data") == data


def test_keys_are_one_string_for_all_objects() -> None:
    one, other = (keep("lookups.x.spec.running == true", json.loads(json.dumps(VM))) for _ in "ab")
    assert next(iter(one["spec"])) is next(iter(other["spec"]))
