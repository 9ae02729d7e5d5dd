"""The YAML around a field: opened on the way, closed beside it, and never what must not be shown."""

from dataclasses import replace
from typing import Any

import pytest

from webhook.model.decision import Finding, FoundFix, Outcome
from webhook.model.path import parse
from webhook.model.policy import MatchResources, Policy
from webhook.model.result import Checked, Edit, Picture, Resource, Result, Source
from webhook.runs.picture import pictured

POLICY = Policy("p", MatchResources())
SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"password": "aHVudGVyMg=="}}


def picture(obj: dict[str, Any], field: str, fix: FoundFix | None = None, *others: Policy) -> Picture:
    finding = Finding(Outcome.DENY, POLICY, "0", field=parse(field), fix=fix or FoundFix())
    resource = Resource("v1", "ConfigMap", "", "a")
    made = pictured(obj, Checked(resource, (Result(finding, resource, Source("a")),)), others).results[0].picture
    assert made is not None
    return made


def drawn(obj: dict[str, Any], field: str, *others: Policy) -> list[str]:
    """Write a picture with `>` before the lines that are pointed at."""
    made = picture(obj, field, None, *others)
    return [f"{'>' if index in made.marked else ' '} {line}" for index, line in enumerate(made.lines)]


def test_the_way_to_a_field_is_opened_and_its_neighbours_are_closed() -> None:
    gates = {"featureGates": ["A", "B", "C", "D", "E", "F"], "nodeSelectors": {"a": "b"}}
    obj = {"apiVersion": "v1", "kind": "K", "metadata": {"name": "a"}, "spec": {"configuration": gates, "x": [1]}}
    assert drawn(obj, "spec.configuration.featureGates[3]") == [
        "  …",
        "  kind: K",
        "  metadata: {…}",
        "  spec:",
        "    configuration:",
        "      featureGates:",
        "        …",
        "        - B",
        "        - C",
        ">       - D",
        "        - E",
        "        - F",
        "      nodeSelectors: {…}",
        "    x: […]",
    ]


def test_the_value_that_is_pointed_at_is_shown_whole_unless_it_is_long() -> None:
    assert drawn({"spec": {"a": {"b": [1, {"c": 2}]}}}, "spec.a") == [
        "  spec:",
        ">   a:",
        ">     b:",
        ">       - 1",
        ">       - c: 2",
    ]
    assert drawn({"list": list(range(20))}, "list")[-2:] == [">   - 6", ">   …"]


@pytest.mark.parametrize(
    ("obj", "field", "lines"),
    [
        ({"spec": {"a": 1}}, "spec.b.c", ["> spec:", "    a: 1"]),
        ({"spec": {}}, "spec.b", ["> spec: {}"]),
        ({"spec": None}, "spec.b", ["> spec: null"]),
        ({"spec": ["a"]}, "spec.b", ["> spec:", "    - a"]),
        ({"a": [{"b": 1, "c": 2}]}, "a[0].d", ["  a:", ">   - b: 1", "      c: 2"]),
        ({"kind": "K"}, "spec.b", ["  kind: K"]),
    ],
)
def test_where_the_field_is_absent_its_nearest_parent_is_pointed_at(
    obj: dict[str, Any], field: str, lines: list[str]
) -> None:
    assert drawn(obj, field) == lines


def test_an_item_of_a_list_is_opened_behind_its_dash() -> None:
    containers = [{"name": "a", "image": "x"}, {"name": "b", "image": "z"}]
    assert drawn({"containers": containers}, "containers[1].image") == [
        "  containers:",
        "    - {…}",
        "    - name: b",
        ">     image: z",
    ]


@pytest.mark.parametrize("field", ["data.password", "data", "metadata.name", "stringData.x"])
def test_values_of_a_secret_are_never_in_a_picture(field: str) -> None:
    assert "aHVudGVyMg" not in str(picture(SECRET, field))


def test_what_another_policy_calls_sensitive_is_not_shown_either() -> None:
    other = replace(POLICY, sensitive_fields=("spec.token",))
    obj = {"spec": {"token": "hunter2", "size": 3}}
    assert drawn(obj, "spec.size", other) == ["  spec:", "    token: (hidden)", ">   size: 3"]
    assert "hunter2" not in str(picture(obj, "spec", None, other))
    assert "hunter2" not in str(picture(obj, "spec.token.x", None, other))


def test_a_fix_is_followed_through_the_object() -> None:
    fix = FoundFix("", ({"op": "replace", "path": "/spec/a", "value": 2},))
    assert picture({"spec": {"a": 1}}, "spec.a", fix).edits == (Edit(("spec", "a"), (1,), (2,)),)


@pytest.mark.parametrize(
    "operation",
    [{"op": "remove", "path": "/spec/b"}, {"op": "replace", "path": "/data/password", "value": "b2s="}, {"op": "add"}],
)
def test_a_fix_that_does_not_apply_or_may_not_be_shown_is_left_out(operation: dict[str, Any]) -> None:
    assert picture(SECRET, "metadata.name", FoundFix("", (operation,))).edits == ()


def test_a_finding_about_the_whole_object_has_no_picture() -> None:
    resource = Resource("v1", "ConfigMap", "", "a")
    whole = Result(Finding(Outcome.DENY, POLICY, "0"), resource, Source("a"))
    assert pictured({"kind": "K"}, Checked(resource, (whole,)), []).results[0].picture is None
