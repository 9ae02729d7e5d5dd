"""ApplyConfiguration: what is merged, what is refused; the real API server is asked the same in `tests/conformance`."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from webhook.admission.structures import Structure, builtin
from webhook.cel.errors import CelError
from webhook.engine.apply import apply_configuration
from webhook.errors import DocumentErrors
from webhook.model.decision import Outcome
from webhook.model.request import GroupVersionKind, Object


def mutation(expression: str) -> str:
    return f"""
    mutations:
    - message: because
      patchType: ApplyConfiguration
      applyConfiguration:
        expression: |
          {expression}
    """


def pod(*containers: Any, **spec: Any) -> Object:
    spec = {"containers": list(containers), **spec} if containers else spec
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "infer", "namespace": "ml"}, "spec": spec}


POD = builtin(GroupVersionKind("", "v1", "Pod"))
LISTS = Structure(
    {
        "type": "object",
        "properties": {
            "map": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["k"],
                "items": {"type": "object", "properties": {"k": {"type": "string"}, "v": {"type": "integer"}}},
            },
            "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "plain": {"type": "array", "items": {"type": "string"}},
            "text": {"type": "string"},
            "free": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}},
        },
    }
)


def test_a_part_is_merged_by_the_keys_of_its_lists_and_the_object_that_came_in_stays_as_it_was(judge: Any) -> None:
    before = pod({"name": "a", "image": "one"}, {"name": "b", "image": "two"})
    untouched = copy.deepcopy(before)
    decision = judge(
        mutation("Object{spec: Object.spec{containers: [Object.spec.containers{name: 'b', tty: true}]}}"), before
    )
    assert decision.allowed
    assert decision.patch == ({"op": "add", "path": "/spec/containers/1/tty", "value": True},)
    assert [change.message for change in decision.changes] == ["because"]
    assert before == untouched


def test_labels_and_annotations_are_merged_key_by_key(judge: Any) -> None:
    before = pod({"name": "a"})
    before["metadata"]["labels"] = {"kept": "1", "changed": "1"}
    decision = judge(mutation("Object{metadata: Object.metadata{labels: {'changed': '2', 'new/key': '3'}}}"), before)
    assert decision.object["metadata"]["labels"] == {"kept": "1", "changed": "2", "new/key": "3"}


def test_an_optional_that_is_none_is_not_given_or_takes_a_scalar_away(judge: Any) -> None:
    before = pod({"name": "a"}, hostname="h", nodeName="n")
    decision = judge(
        mutation("Object{spec: Object.spec{?hostname: optional.none(), nodeName: optional.none()}}"), before
    )
    assert decision.object["spec"] == {"containers": [{"name": "a"}], "hostname": "h"}


def test_later_mutations_see_what_earlier_ones_have_merged(judge: Any) -> None:
    policy = mutation("Object{metadata: Object.metadata{labels: {'a': '1'}}}") + (
        "- patchType: JSONPatch\n"
        "      jsonPatch: {expression: \"[JSONPatch{op: 'copy', from: '/metadata/labels/a', path: '/metadata/labels/b'}]\"}\n"
    )
    assert judge(policy, pod({"name": "a"})).object["metadata"]["labels"] == {"a": "1", "b": "1"}


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (
            "Object{spec: Object.spec{tolerations: [Object.spec.tolerations{key: 'a'}]}}",
            "`spec.tolerations` is one value",
        ),
        (
            "Object{spec: Object.spec{nodeSelector: {'a': 'b'}}}",
            "`spec.nodeSelector` is one value to Kubernetes (atomic)",
        ),
        ("Object{spec: Object.spec{hostnam: 'a'}}", "no field `spec.hostnam`; did you mean `hostname`?"),
        ("Object{spec: Object.spec{hostname: 1}}", "`spec.hostname`: got a number, want text"),
        ("Object{spec: Object.spec{hostNetwork: 'yes'}}", "`spec.hostNetwork`: got text, want true or false"),
        ("Object{spec: Object.spec{containers: {'a': 'b'}}}", "`spec.containers`: got a map, want a list"),
        ("Object{spec: Object.spec{hostname: ['a']}}", "`spec.hostname`: got a list, want text"),
        ("object.spec.hostname", "the expression gives no `Object{…}`"),
    ],
)
def test_what_cannot_be_merged_is_an_error_that_names_the_field(judge: Any, expression: str, message: str) -> None:
    decision = judge(mutation(expression), pod({"name": "a"}, hostname="h"))
    assert not decision.allowed
    (finding,) = decision.findings
    assert finding.outcome is Outcome.ERROR
    assert message in finding.message
    assert not decision.changes


LIVE = {"map": [{"k": "a", "v": 1}, {"k": "b", "v": 2}, {"k": "c"}], "set": ["x", "y"], "text": "t"}


@pytest.mark.parametrize(
    ("given", "changed"),
    [
        ({"map": [{"k": "b", "v": 3}]}, {"map": [{"k": "a", "v": 1}, {"k": "b", "v": 3}, {"k": "c"}]}),
        ({"map": [{"k": "z"}]}, {"map": [{"k": "a", "v": 1}, {"k": "b", "v": 2}, {"k": "c"}, {"k": "z"}]}),
        (
            {"map": [{"k": "c", "v": 9}, {"k": "a"}]},
            {"map": [{"k": "b", "v": 2}, {"k": "c", "v": 9}, {"k": "a", "v": 1}]},
        ),
        (
            {"map": [{"k": "n"}, {"k": "b"}]},
            {"map": [{"k": "a", "v": 1}, {"k": "n"}, {"k": "b", "v": 2}, {"k": "c"}]},
        ),
        ({"set": ["z", "x"]}, {"set": ["z", "x", "y"]}),
        ({"set": None, "map": None}, {}),
        ({"text": None}, {"text": None}),
        ({"free": {"a": ["b"]}}, {"free": {"a": ["b"]}}),
    ],
)
def test_lists_keep_the_live_order_but_for_what_is_given_in_another(given: Object, changed: Object) -> None:
    expected = {key: value for key, value in {**LIVE, **changed}.items() if value is not None}
    assert apply_configuration(LIVE, given, LISTS) == expected


def test_of_live_entries_with_one_key_the_given_one_takes_the_place() -> None:
    live = {"map": [{"k": "a", "v": 1}, {"k": "b"}, {"k": "a", "v": 2}]}
    assert apply_configuration(live, {"map": [{"k": "a", "v": 3}]}, LISTS) == {"map": [{"k": "a", "v": 3}, {"k": "b"}]}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"map": [{"v": 1}]}, "`map[0]` has no `k`, which the list is merged by"),
        ({"map": [{"k": "a"}, {"k": "a"}]}, "`map[1]` has the key of an entry before it"),
        ({"map": ["a"]}, "`map[0]`: want a map with `k`"),
        ({"set": [["a"]]}, "`set[0]`: got a list, want a scalar of a set"),
        ({"plain": []}, "`plain` is one value to Kubernetes"),
    ],
)
def test_entries_without_a_key_of_their_own_are_refused(given: Object, message: str) -> None:
    with pytest.raises(CelError) as error:
        apply_configuration(LIVE, given, LISTS)
    assert message in str(error.value)


def test_a_key_that_is_left_out_has_its_default() -> None:
    assert POD is not None
    live = pod({"name": "a", "ports": [{"containerPort": 80, "protocol": "TCP"}]})
    port = {"spec": {"containers": [{"name": "a", "ports": [{"containerPort": 80, "name": "http"}]}]}}
    made = apply_configuration(live, port, POD)
    assert made["spec"]["containers"][0]["ports"] == [{"containerPort": 80, "protocol": "TCP", "name": "http"}]


def widget(**spec: Any) -> Object:
    return {"apiVersion": "example.org/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": spec}


def test_a_custom_resource_is_merged_as_its_definition_says(judge: Any) -> None:
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.org"},
        "spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": {"properties": {"spec": LISTS.schema}}}}]},
    }
    policy = mutation("Object{metadata: Object.metadata{labels: {'a': 'b'}}, spec: Object.spec{set: ['y', 'z']}}")
    decision = judge(policy, widget(set=["x", "y"]), objects=[definition])
    assert decision.object["spec"] == {"set": ["x", "y", "z"]}
    assert decision.object["metadata"]["labels"] == {"a": "b"}


def test_without_its_definition_a_custom_resource_is_not_merged(judge: Any) -> None:
    policy = mutation("Object{spec: Object.spec{set: ['y']}}")
    unknown = judge(policy, widget(), objects=None)
    assert [finding.outcome for finding in unknown.findings] == [Outcome.SKIP]
    assert "needs CustomResourceDefinition" in unknown.findings[0].message
    absent = judge(policy, widget(), objects=[])
    assert [finding.outcome for finding in absent.findings] == [Outcome.ERROR]
    assert "it has no CustomResourceDefinition" in absent.findings[0].message


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("Object.spec{}", "got Object.spec, want Object"),
        ("{'spec': 1}", "got a map, want Object"),
        ("[Object{}]", "want Object{…}"),
        ("Object{spec: Object.status{}}", "`spec` is Object.spec, got Object.status"),
        (
            "Object{spec: true ? Object.spec{a: [Object.spec.b{}]} : Object.spec{}}",
            "`a` is Object.spec.a, got Object.spec.b",
        ),
    ],
)
def test_parts_are_called_as_the_fields_that_they_are_for(link: Any, expression: str, message: str) -> None:
    with pytest.raises(DocumentErrors) as errors:
        link(mutation(expression))
    assert message in str(errors.value)
