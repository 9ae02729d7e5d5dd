"""Mutations: in order, before validation, as the smallest patch, and each with its reason."""

from __future__ import annotations

import contextlib
import copy
import textwrap
from typing import Any

import jsonpatch
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.cel.errors import CelError
from webhook.engine.patch import apply, difference
from webhook.model.decision import Outcome
from webhook.model.request import Object


def mutation(*operations: str, message: str = "because") -> str:
    """A policy with one mutation of these operations."""
    listed = ", ".join(f"JSONPatch{{{operation}}}" for operation in operations)
    return f"""
    mutations:
    - message: {message}
      patchType: JSONPatch
      jsonPatch:
        expression: |
          [{listed}]
    """


def pod(**spec: Any) -> Object:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "infer", "namespace": "ml"}, "spec": spec}


def test_a_change_is_a_minimal_patch_with_its_reason_and_the_object_that_came_in_stays_as_it_was(judge: Any) -> None:
    before = pod(containers=[{"name": "a"}])
    untouched = copy.deepcopy(before)
    decision = judge(mutation("op: 'replace', path: '/spec', value: {'containers': [{'name': 'b'}]}"), before)
    assert decision.allowed
    assert decision.patch == ({"op": "replace", "path": "/spec/containers/0/name", "value": "b"},)
    assert [(change.policy.name, change.message) for change in decision.changes] == [("p0", "because")]
    assert decision.object["spec"]["containers"][0]["name"] == "b"
    assert before == untouched


def test_keys_with_a_slash_and_a_tilde_are_escaped(judge: Any) -> None:
    policy = mutation(
        "op: 'add', path: '/metadata/annotations/' + jsonpatch.escapeKey('policy.example.org/checked'), value: 'lab'",
        "op: 'add', path: '/spec/values/' + jsonpatch.escapeKey('a~b/c'), value: 'x'",
    )
    before = pod(values={"b": 2})
    before["metadata"]["annotations"] = {"a": "1"}
    decision = judge(policy, before)
    assert decision.patch == (
        {"op": "add", "path": "/metadata/annotations/policy.example.org~1checked", "value": "lab"},
        {"op": "add", "path": "/spec/values/a~0b~1c", "value": "x"},
    )
    assert decision.object["spec"]["values"] == {"b": 2, "a~b/c": "x"}


def test_an_append_makes_the_list_that_is_missing_and_keeps_the_one_that_is_there(judge: Any) -> None:
    policy = mutation(
        "op: 'add', path: '/spec/containers/0/env/-', value: {'name': 'Y'}",
        "op: 'add', path: '/spec/containers/1/env/-', value: {'name': 'Y'}",
    )
    decision = judge(policy, pod(containers=[{"name": "a"}, {"name": "b", "env": [{"name": "X"}]}]))
    assert [container["env"] for container in decision.object["spec"]["containers"]] == [
        [{"name": "Y"}],
        [{"name": "X"}, {"name": "Y"}],
    ]
    assert (
        jsonpatch.apply_patch(pod(containers=[{"name": "a"}, {"name": "b", "env": [{"name": "X"}]}]), decision.patch)
        == decision.object
    )


def test_parents_that_are_missing_are_made(judge: Any) -> None:
    decision = judge(mutation("op: 'add', path: '/spec/a/b/c', value: true"), pod())
    assert decision.patch == ({"op": "add", "path": "/spec/a", "value": {"b": {"c": True}}},)


def test_a_parent_that_is_null_counts_as_missing(judge: Any) -> None:
    decision = judge(mutation("op: 'add', path: '/spec/a/b', value: 1"), pod(a=None))
    assert decision.object["spec"] == {"a": {"b": 1}}


def test_nothing_is_said_when_nothing_changes(judge: Any) -> None:
    before = pod(a=1)
    decision = judge(mutation("op: 'add', path: '/spec/a', value: 1"), before)
    assert (decision.patch, decision.changes, decision.object) == ((), (), before)


def test_one_and_true_are_two_values(judge: Any) -> None:
    decision = judge(mutation("op: 'add', path: '/spec/a', value: true"), pod(a=1))
    assert decision.patch == ({"op": "replace", "path": "/spec/a", "value": True},)


def test_a_test_that_does_not_hold_means_no_change(judge: Any) -> None:
    policy = mutation("op: 'test', path: '/spec/a', value: 2", "op: 'remove', path: '/spec/a'")
    decision = judge(policy, pod(a=1))
    assert decision.allowed
    assert decision.patch == ()


def test_each_mutation_sees_what_the_one_before_has_made(judge: Any, link: Any) -> None:
    first = mutation("op: 'add', path: '/spec/a', value: 1")
    second = mutation("op: 'add', path: '/spec/b', value: object.spec.a + 1")
    decision = judge(link(first, second), pod())
    assert decision.object["spec"] == {"a": 1, "b": 2}
    assert len(decision.changes) == 2


def test_rules_judge_what_the_mutations_have_made(judge: Any) -> None:
    policy = mutation("op: 'add', path: '/spec/a', value: 1")
    policy += "\n    validations: [{expression: object.spec.a == 1}]\n"
    assert judge(policy, pod()).allowed
    assert not judge(policy, pod(), mutate=False).allowed


def test_a_second_round_changes_nothing_more(judge: Any) -> None:
    policy = mutation("op: 'add', path: '/spec/labels/gpu', value: 'on'")
    once = judge(policy, pod())
    again = judge(policy, once.object)
    assert again.patch == ()


@pytest.mark.parametrize(
    "operation",
    [
        "op: 'remove', path: '/spec/gone'",
        "op: 'replace', path: '/spec/gone', value: 1",
        "op: 'append', path: '/spec/a', value: 1",
        "op: 'add', path: 'spec/a', value: 1",
        "op: 'add', path: '/spec/list/9', value: 1",
        "op: 'add', path: '/metadata/name/x', value: 1",
        "op: 'add', path: '/spec/a', value: object.spec.gone",
    ],
)
@pytest.mark.parametrize(("failure_policy", "allowed"), [("Fail", False), ("Ignore", True)])
def test_a_patch_that_cannot_be_applied_changes_nothing_and_goes_by_the_failure_policy(
    judge: Any, operation: str, failure_policy: str, allowed: bool
) -> None:
    decision = judge(f"    failurePolicy: {failure_policy}\n{mutation(operation)}", pod(list=[1]))
    assert decision.allowed is allowed
    assert decision.patch == ()
    assert [finding.outcome for finding in decision.findings] == [Outcome.ERROR]


def test_a_delete_is_never_mutated(judge: Any) -> None:
    decision = judge(mutation("op: 'add', path: '/spec/a', value: 1"), pod(), operation="DELETE")
    assert (decision.allowed, decision.patch) == (True, ())


keys = st.text(st.characters(codec="utf-8"), min_size=1, max_size=4)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(keys, children, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(keys, values, max_size=4)


@given(objects, objects)
def test_the_difference_of_two_objects_leads_from_the_one_to_the_other(before: Object, after: Object) -> None:
    operations = difference(before, after)
    made = apply(before, operations)
    assert repr(sorted_maps(made)) == repr(sorted_maps(after))
    assert bool(operations) is (repr(sorted_maps(before)) != repr(sorted_maps(after)))


@given(
    objects,
    st.lists(
        st.fixed_dictionaries(
            {
                "op": st.sampled_from(["add", "remove", "move"]),
                "path": st.text("/a0-~"),
                "from": st.text("/a0"),
                "value": values,
            }
        ),
        max_size=3,
    ),
)
def test_any_patch_is_applied_or_refused_and_never_touches_the_object(obj: Object, operations: list[Any]) -> None:
    untouched = copy.deepcopy(obj)
    with contextlib.suppress(CelError):
        assert isinstance(apply(obj, operations), dict)
    assert obj == untouched


def sorted_maps(value: Any) -> Any:
    """Compare by `repr`, which tells 1 from true, whatever the order of keys."""
    if isinstance(value, dict):
        return [(key, sorted_maps(value[key])) for key in sorted(value)]
    return [sorted_maps(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (
            "lists.range(40).map(i, JSONPatch{op: 'copy', from: '/spec', path: '/spec/k' + string(i)})",
            "copies more than",
        ),
        ("lists.range(10001).map(i, JSONPatch{op: 'test', path: '', value: object})", "want at most 10000"),
    ],
)
def test_a_patch_that_grows_without_end_is_an_error(judge: Any, expression: str, message: str) -> None:
    policy = f'mutations: [{{patchType: JSONPatch, message: m, jsonPatch: {{expression: "{expression}"}}}}]'
    decision = judge(policy, pod(a="b"))
    (finding,) = decision.findings
    assert finding.outcome is Outcome.ERROR
    assert message in finding.message
    assert decision.patch == ()


LABEL = """
reinvocationPolicy: {policy}
matchConditions: [{{name: once, expression: "{condition}"}}]
mutations:
- patchType: JSONPatch
  jsonPatch:
    expression: >-
      [JSONPatch{{op: 'add', path: '/spec/seen', value: object.spec.?seen.orValue('') + string(object.spec.names.size())}}]
"""
NAME = """
mutations:
- patchType: JSONPatch
  jsonPatch: {expression: "[JSONPatch{op: 'add', path: '/spec/names/-', value: 'x'}]"}
"""


@pytest.mark.parametrize(
    ("policy", "condition", "seen"),
    [("IfNeeded", "true", "01"), ("Never", "true", "0"), ("IfNeeded", "object.spec.names.size() > 0", None)],
)
def test_a_policy_that_asks_for_it_has_another_turn_after_later_ones_have_changed_the_object(
    policy: str, condition: str, seen: str | None, judge: Any, link: Any
) -> None:
    decision = judge(link(LABEL.format(policy=policy, condition=condition), NAME), pod(names=[]))
    assert decision.object["spec"].get("seen") == seen
    assert decision.object["spec"]["names"] == ["x"]


def test_a_policy_has_no_second_turn_for_a_change_of_its_own(judge: Any) -> None:
    assert judge(LABEL.format(policy="IfNeeded", condition="true"), pod(names=[])).object["spec"]["seen"] == "0"


NATIVE = """
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {{name: count}}
spec:
  reinvocationPolicy: {policy}
  matchConstraints: {{resourceRules: [{{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}}]}}
  mutations:
  - patchType: JSONPatch
    jsonPatch: {{expression: "[JSONPatch{{op: 'add', path: '/spec/n', value: int(object.spec.n) + 1}}]"}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {{name: count}}
spec: {{policyName: count}}
"""


@pytest.mark.parametrize(("policy", "count"), [("IfNeeded", 2), ("Never", 1)])
def test_a_native_policy_that_asks_for_it_has_a_second_turn_for_its_own_change(
    policy: str, count: int, judge: Any, load: Any
) -> None:
    assert judge(load(NATIVE.format(policy=policy)), pod(n=0)).object["spec"]["n"] == count


def test_policies_are_matched_with_the_object_as_it_came(judge: Any, link: Any) -> None:
    label = "op: 'add', path: '/metadata/labels', value: {'made': 'yes'}"
    selected = """
    matchConstraints:
      objectSelector: {matchLabels: {made: "yes"}}
      resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
    """
    mutating = textwrap.dedent(selected) + textwrap.dedent(mutation("op: 'add', path: '/spec/after', value: true"))
    validating = textwrap.dedent(selected) + "validations: [{expression: object.spec.n == 1, message: seen}]"
    decision = judge(link(mutation(label), mutating, validating), pod(n=0))
    assert decision.object == pod(n=0) | {"metadata": {"name": "infer", "namespace": "ml", "labels": {"made": "yes"}}}
    assert [finding.message for finding in decision.findings] == ["seen"]


@pytest.mark.parametrize("op", ["move", "copy"])
def test_what_is_moved_or_copied_gets_its_parents_too(op: str) -> None:
    changed = apply({"a": 1}, [{"op": op, "from": "/a", "path": "/b/c/d"}])
    assert changed == {"b": {"c": {"d": 1}}} | ({"a": 1} if op == "copy" else {})


def test_a_native_policy_makes_no_parents_that_are_missing() -> None:
    operation = {"op": "add", "path": "/spec/a/b", "value": 1}
    assert apply(pod(), [operation])["spec"] == {"a": {"b": 1}}
    with pytest.raises(CelError, match="cannot add `/spec/a/b`"):
        apply(pod(), [operation], native=True)
