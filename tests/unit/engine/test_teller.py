"""What a review tells of itself."""

from __future__ import annotations

from typing import Any

import pytest

from webhook.admission.plurals import Plurals
from webhook.admission.synthesize import Circumstances, synthesize
from webhook.engine.context import Context
from webhook.engine.pipeline import review
from webhook.engine.policyset import PolicySet
from webhook.engine.teller import Teller
from webhook.model.decision import Decision
from webhook.model.release import Minor, Release
from webhook.model.story import Phase, PolicyStory, Step
from webhook.sources.objects import ObjectStore

CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"a": "1"}}
SECRET = CONFIG_MAP | {"kind": "Secret"}


def told(policies: PolicySet, obj: dict[str, Any], old: dict[str, Any] | None = None) -> tuple[Decision, Teller]:
    operation = "UPDATE" if old else "CREATE"
    request = synthesize(obj, Plurals(), Circumstances(operation=operation), old)
    context = Context(Release(Minor(1, 6), {"version": "1.6"}), ObjectStore(closed_world=True))
    teller = Teller()
    return review(policies, request, context, teller=teller), teller


def story(policies: PolicySet, obj: dict[str, Any] = CONFIG_MAP, old: dict[str, Any] | None = None) -> PolicyStory:
    (only,) = told(policies, obj, old)[1].stories
    return only


def test_a_rule_is_told_with_the_parts_of_its_expression(link: Any) -> None:
    (rule,) = story(link("title: t\nvalidations: [{name: r, expression: object.data.a == '2'}]")).rules

    assert (rule.name, rule.text, rule.result) == ("r", "object.data.a == '2'", "deny")
    assert rule.steps == (Step("object.data.a", "1"), Step("object.data.a == '2'", False))


def test_a_rule_that_holds_is_told_too(link: Any) -> None:
    (rule,) = story(link("title: t\nvalidations: [{expression: object.data.a == '1'}]")).rules

    assert rule.result == "pass"
    assert rule.steps
    assert rule.steps[-1] == Step("object.data.a == '1'", True)


def test_an_error_is_told_where_it_came_from(link: Any) -> None:
    (rule,) = story(link("title: t\nvalidations: [{expression: object.data.b == '1'}]")).rules

    assert rule.result == "error"
    assert rule.steps == (Step("object.data.b", error="no such key: b"),)


def test_each_element_is_told_by_itself(link: Any) -> None:
    spec = "title: t\nvalidations: [{forEach: {in: object.data, as: v, at: k}, expression: v == '1'}]"

    assert [(one.element, one.result) for one in story(link(spec)).rules] == [("a", "pass")]


def test_conditions_are_told_and_why_a_policy_is_left(link: Any) -> None:
    spec = (
        "title: t\nmatchConditions: [{name: c, expression: object.data.a == '2'}]\nvalidations: [{expression: 'false'}]"
    )
    one = story(link(spec))

    assert (one.left, one.rules) == ("a match condition is false", [])
    assert [(condition.name, condition.result) for condition in one.conditions] == [("c", "false")]
    assert one.conditions[0].steps == (Step("object.data.a", "1"), Step("object.data.a == '2'", False))


def test_a_change_is_told_in_its_phase(link: Any) -> None:
    change = "[JSONPatch{op: 'add', path: '/data/b', value: 'x'}]"
    spec = f"""
    title: t
    mutations:
    - {{patchType: JSONPatch, message: gets b, jsonPatch: {{expression: "{change}"}}}}
    """
    one = story(link(spec))

    assert one.phase is Phase.MUTATE
    assert [(done.message, done.operations) for done in one.changes] == [
        ("gets b", ({"op": "add", "path": "/data/b", "value": "x"},))
    ]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ("resourceNames: [other]", "it is about objects of other names"),
        ("scope: Namespaced", ""),
    ],
)
def test_names_that_do_not_fit_are_a_reason(link: Any, more: str, why: str) -> None:
    spec = f"""
    title: t
    matchConstraints:
      resourceRules:
      - {{apiGroups: [""], apiVersions: ["*"], resources: [configmaps], operations: ["*"], {more}}}
    validations: [{{expression: "true"}}]
    """

    assert story(link(spec)).left == why


@pytest.mark.parametrize(
    ("selector", "why"),
    [
        ("objectSelector: {matchLabels: {a: b}}", "its objectSelector picks other labels"),
        ("namespaceSelector: {matchLabels: {a: b}}", "its namespaceSelector picks other namespaces"),
        (
            "excludeResourceRules: [{apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], operations: ['*']}]",
            "it excludes such requests",
        ),
    ],
)
def test_selectors_that_do_not_fit_are_a_reason(link: Any, selector: str, why: str) -> None:
    spec = f"""
    title: t
    matchConstraints:
      resourceRules:
      - {{apiGroups: [""], apiVersions: ["*"], resources: [configmaps], operations: ["*"]}}
      {selector}
    validations: [{{expression: "true"}}]
    """

    assert story(link(spec)).left == why


def test_an_object_that_is_being_deleted_is_a_reason(link: Any) -> None:
    going = CONFIG_MAP | {"metadata": {"name": "x", "deletionTimestamp": "2026-01-01T00:00:00Z"}}

    assert (
        story(link("title: t\nvalidations: [{expression: 'false'}]"), old=going).left == "the object is being deleted"
    )


def test_the_decision_is_the_one_that_is_made_without_a_listener(link: Any) -> None:
    policies = link("title: t\nvalidations: [{expression: object.data.a == '2'}, {expression: 'true'}]")
    decision, _ = told(policies, CONFIG_MAP)
    request = synthesize(CONFIG_MAP, Plurals(), Circumstances())
    context = Context(Release(Minor(1, 6), {"version": "1.6"}), ObjectStore(closed_world=True))

    assert decision == review(policies, request, context, passes=True)


EXPRESSIONS = (
    "object.data.a == '2'",
    "dyn(request).object.data.a == '2'",
    "variables.it == '2'",
    "string(object.data.a) + string(object.data.b) == '2'",
)


@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.parametrize(("obj", "sensitive"), [(SECRET, "[]"), (CONFIG_MAP, "[data.a]"), (CONFIG_MAP, "[data]")])
def test_no_part_that_may_tell_a_secret_is_told(
    link: Any, expression: str, obj: dict[str, Any], sensitive: str
) -> None:
    spec = f"""
    title: t
    sensitiveFields: {sensitive}
    variables: [{{name: it, expression: object.data.a}}]
    matchConditions: [{{name: c, expression: "object.data.a != '2'"}}]
    validations:
    - {{expression: "{expression}"}}
    - {{forEach: {{in: object.data, as: v}}, expression: "v == '2'"}}
    """
    one = story(link(spec), obj | {"data": {"a": "hunter2"}})

    assert [part.steps for part in (*one.conditions, *one.rules)] == [None] * 3
    assert "hunter2" not in repr([(part.result, part.finding and part.finding.message) for part in one.rules])


def test_a_condition_that_fails_on_a_secret_tells_no_reason(link: Any) -> None:
    spec = "title: t\nmatchConditions: [{name: c, expression: int(object.data.a) == 1}]\nvalidations: [{expression: 'true'}]"
    one = story(link(spec), SECRET | {"data": {"a": "hunter2"}})

    assert one.left == "a match condition cannot be tested"
    assert [part.result for part in one.conditions] == [
        "cannot be tested; the reason is withheld, as it may hold a secret value"
    ]
