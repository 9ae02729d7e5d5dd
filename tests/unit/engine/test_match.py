"""Requests match as the API server matches them."""

from __future__ import annotations

from typing import Any

import pytest

from webhook.admission import codec
from webhook.cel.errors import NotKnown
from webhook.engine.match import matches, rules_may_match
from webhook.model.policy import MatchResources, ResourceRule
from webhook.model.request import AdmissionRequest, Object
from webhook.model.selector import LabelSelector, Requirement


class Namespaces:
    """Knows the labels of one namespace; asking for any other is a question nobody can answer."""

    def namespace(self, name: str) -> Object:
        if name != "ml":
            raise NotKnown(f"Namespace {name}")
        return {"metadata": {"name": name, "labels": {"team": "ml"}}}

    def get(self, api_version: str, kind: str, namespace: str, name: str) -> Object | None:
        raise NotKnown(kind)

    def list(self, api_version: str, kind: str, namespace: str, selector: LabelSelector | None) -> list[Object]:
        raise NotKnown(kind)


def request(resource: str = "pods", *, group: str = "", version: str = "v1", **fields: Any) -> AdmissionRequest:
    """A request as the API server sends it, with the fields that a test is about."""
    gvr = {"group": group, "version": version, "resource": resource}
    review = {
        "uid": "u",
        "operation": "CREATE",
        "kind": {"group": group, "version": version, "kind": "Any"},
        "resource": gvr,
        "requestResource": gvr,
        "userInfo": {"username": "ada"},
        "object": {"metadata": {"labels": {"app": "infer"}}},
    }
    return codec.read({"apiVersion": codec.API_VERSION, "kind": "AdmissionReview", "request": review | fields})


def rule(**fields: Any) -> ResourceRule:
    """A rule that covers every pod, but for the fields that a test is about."""
    everything = {"api_groups": ("",), "api_versions": ("v1",), "resources": ("pods",), "operations": ("CREATE",)}
    return ResourceRule(**(everything | fields))


def match(*rules: ResourceRule, **fields: Any) -> MatchResources:
    return MatchResources(rules or (rule(),), **fields)


@pytest.mark.parametrize(
    ("patterns", "resource", "subresource", "expected"),
    [
        (("pods",), "pods", "", True),
        (("pods",), "pods", "status", False),
        (("pods/status",), "pods", "status", True),
        (("pods/status",), "pods", "", False),
        (("*",), "pods", "", True),
        (("*",), "pods", "status", False),
        (("*/status",), "pods", "status", True),
        (("*/scale",), "pods", "status", False),
        (("pods/*",), "pods", "exec", True),
        (("pods/*",), "services", "exec", False),
        (("*/*",), "pods", "", True),
        (("*/*",), "pods", "status", True),
        (("services", "pods"), "pods", "", True),
    ],
)
def test_a_subresource_is_a_resource_of_its_own(
    patterns: tuple[str, ...], resource: str, subresource: str, expected: bool
) -> None:
    asked = request(resource, subResource=subresource)
    assert matches(match(rule(resources=patterns)), asked, Namespaces()) is expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"api_groups": ("apps",)}, False),
        ({"api_groups": ("*",)}, True),
        ({"api_versions": ("v2",)}, False),
        ({"api_versions": ("*",)}, True),
        ({"operations": ("UPDATE", "DELETE")}, False),
        ({"operations": ("*",)}, True),
        ({"scope": "Namespaced"}, True),
        ({"scope": "Cluster"}, False),
    ],
)
def test_every_part_of_a_rule_has_to_fit(fields: dict[str, Any], expected: bool) -> None:
    asked = request(namespace="ml")
    assert matches(match(rule(**fields)), asked, Namespaces()) is expected
    assert rules_may_match(match(rule(**fields)), asked) is expected


def test_a_namespace_is_cluster_scoped_although_its_request_has_a_namespace() -> None:
    asked = request("namespaces", namespace="ml", name="ml")
    of_scope = [
        matches(match(rule(resources=("*",), scope=scope)), asked, Namespaces()) for scope in ("Cluster", "Namespaced")
    ]
    assert of_scope == [True, False]


def test_an_exclusion_wins() -> None:
    excluded = match(exclude_resource_rules=(rule(resource_names=("special",)),))
    assert not matches(excluded, request(name="special"), Namespaces())
    assert matches(excluded, request(name="other"), Namespaces())


def test_resource_names_never_cover_an_object_whose_name_is_still_to_be_generated() -> None:
    named = match(rule(resource_names=("infer",)))
    assert matches(named, request(name="infer"), Namespaces())
    assert not matches(named, request(name=""), Namespaces())


def test_exact_looks_at_what_the_user_sent_and_equivalent_at_what_became_of_it() -> None:
    sent = {"group": "", "version": "v2", "resource": "pods"}
    asked = request(requestResource=sent)
    assert matches(match(), asked, Namespaces())
    assert not matches(match(match_policy="Exact"), asked, Namespaces())
    assert matches(match(rule(api_versions=("v2",)), match_policy="Exact"), asked, Namespaces())


SELECTS_TEAM = LabelSelector((Requirement("team", "In", ("ml",)),))


def test_a_namespace_selector_tests_the_labels_of_the_namespace() -> None:
    selected = match(namespace_selector=SELECTS_TEAM)
    assert matches(selected, request(namespace="ml"), Namespaces())
    with pytest.raises(NotKnown, match="Namespace other"):
        matches(selected, request(namespace="other"), Namespaces())


def test_a_namespace_selector_is_ignored_for_cluster_scoped_objects() -> None:
    assert matches(match(namespace_selector=SELECTS_TEAM), request(), Namespaces())


def test_a_namespace_selector_tests_a_namespace_by_its_own_labels() -> None:
    selected = match(rule(resources=("namespaces",)), namespace_selector=SELECTS_TEAM)
    with_label = request("namespaces", namespace="x", object={"metadata": {"labels": {"team": "ml"}}})
    assert matches(selected, with_label, Namespaces())
    assert not matches(selected, request("namespaces", namespace="ml"), Namespaces())


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [("infer", "other", True), ("other", "infer", True), ("other", "other", False), (None, "infer", True)],
)
def test_an_object_selector_needs_the_new_or_the_old_object(new: str | None, old: str, expected: bool) -> None:
    selected = match(rule(operations=("*",)), object_selector=LabelSelector((Requirement("app", "In", ("infer",)),)))
    objects = [None if app is None else {"metadata": {"labels": {"app": app}}} for app in (new, old)]
    asked = request(operation="DELETE" if new is None else "UPDATE", object=objects[0], oldObject=objects[1])
    assert matches(selected, asked, Namespaces()) is expected


@pytest.mark.parametrize(
    ("operator", "values", "with_label", "without"),
    [
        ("In", ("infer",), True, False),
        ("NotIn", ("infer",), False, True),
        ("Exists", (), True, False),
        ("DoesNotExist", (), False, True),
    ],
)
def test_each_operator_of_a_selector_reads_a_missing_label_as_kubernetes_does(
    operator: str, values: tuple[str, ...], with_label: bool, without: bool
) -> None:
    selector = LabelSelector((Requirement("app", operator, values),))
    assert selector.matches({"app": "infer"}) is with_label
    assert selector.matches({}) is without


@pytest.mark.parametrize("metadata", [None, [], {"labels": None}, {"labels": ["app"]}])
def test_labels_that_are_no_labels_are_none(metadata: Any) -> None:
    selected = match(object_selector=LabelSelector((Requirement("app", "Exists"),)))
    assert not matches(selected, request(object={"metadata": metadata}), Namespaces())
