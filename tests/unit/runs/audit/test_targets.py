"""What an audit lists."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from webhook.cluster.discovery import Resources
from webhook.cluster.resources import Resource
from webhook.engine.policyset import PolicySet
from webhook.errors import UsageError
from webhook.model.release import Minor
from webhook.runs.audit.targets import targets
from webhook.sources import compiled

Linked = Callable[..., PolicySet]
VERBS = frozenset({"list", "create", "get"})
RELEASES = (Minor(1, 6),)


@pytest.fixture
def linked(tmp_path: Path) -> Linked:
    """Link policies with these rules: name → (group, versions, resources) and what else their rule says."""

    def link(**rules: Any) -> PolicySet:
        folder = tmp_path / "policies"
        folder.mkdir()
        for name, rule in rules.items():
            more = rule if isinstance(rule, dict) else {"rule": rule}
            group, versions, resources = more["rule"]
            spec = {
                "matchConstraints": {
                    "resourceRules": [
                        {
                            "apiGroups": [group],
                            "apiVersions": versions,
                            "resources": resources,
                            "operations": more.get("operations", ["CREATE"]),
                            "scope": more.get("scope", "*"),
                        }
                    ]
                },
                "validations": [{"expression": "true", "message": "no"}],
            } | more.get("spec", {})
            kind = {"apiVersion": "cozyguard.io/v1alpha1", "kind": "AdmissionPolicy", "metadata": {"name": name}}
            (folder / f"{name}.json").write_text(json.dumps(kind | {"spec": spec}))
        made = compiled.load([folder])
        assert not made.errors
        return PolicySet.link(made.policies)

    return link


def resource(name: str, group: str = "", version: str = "v1", **more: Any) -> Resource:
    return Resource(group, version, f"{name.lower()}s", name, more.get("namespaced", True), more.get("verbs", VERBS))


def listed(resources: list[Resource], policies: PolicySet, *kinds: str) -> list[tuple[str, list[str]]]:
    found = targets(Resources(resources), policies, RELEASES, kinds)
    return [(one.resource.path(), [each.policy.name for each in one.policies.policies]) for one in found]


def test_kinds_that_no_policy_matches_are_not_listed(linked: Linked) -> None:
    policies = linked(p=("", ["v1"], ["pods"]))
    assert listed([resource("Pod"), resource("Secret")], policies) == [("/api/v1/pods", ["p"])]


def test_what_cannot_be_listed_or_made_is_left_out(linked: Linked) -> None:
    policies = linked(p=("*", ["*"], ["*"]))
    given = [
        resource("Review", verbs=frozenset({"create"})),
        resource("PodMetrics", "metrics.k8s.io", verbs=frozenset({"list"})),
        resource("Event"),
        resource("Event", "events.k8s.io"),
        resource("Pod"),
    ]
    assert [path for path, _ in listed(given, policies)] == ["/api/v1/pods"]


def test_operations_scopes_and_releases_count(linked: Linked) -> None:
    policies = linked(
        going={"rule": ("", ["v1"], ["pods"]), "operations": ["DELETE"]},
        wide={"rule": ("", ["v1"], ["pods"]), "scope": "Cluster"},
        later={"rule": ("", ["v1"], ["pods"]), "spec": {"releases": ">=1.7"}},
    )
    assert listed([resource("Pod")], policies) == []
    both = targets(Resources([resource("Pod")]), policies, (Minor(1, 6), Minor(1, 7)))
    assert [one.resource.kind for one in both] == ["Pod"]


def test_a_kind_is_listed_once_in_the_preferred_version(linked: Linked) -> None:
    policies = linked(p=("g.io", ["*"], ["things"]), q=("g.io", ["v2"], ["things"]))
    given = [resource("Thing", "g.io", "v2"), resource("Thing", "g.io", "v1")]
    assert listed(given, policies) == [("/apis/g.io/v2/things", ["p", "q"])]


def test_policies_about_another_version_alone_have_it_listed_in_that(linked: Linked) -> None:
    policies = linked(p=("g.io", ["v1"], ["things"]), q=("g.io", ["v2"], ["things"]), r=("g.io", ["*"], ["things"]))
    given = [resource("Thing", "g.io", "v2"), resource("Thing", "g.io", "v1")]
    assert listed(given, policies) == [("/apis/g.io/v2/things", ["p", "q", "r"]), ("/apis/g.io/v1/things", ["p"])]
    assert [one.again for one in targets(Resources(given), policies, RELEASES)] == [False, True]


@pytest.mark.parametrize("name", ["Thing", "thing", "things", "things.g.io"])
def test_a_kind_is_asked_for_by_any_of_its_names(linked: Linked, name: str) -> None:
    policies = linked(p=("*", ["*"], ["*"]))
    given = [resource("Thing", "g.io"), resource("Pod")]
    assert [path for path, _ in listed(given, policies, name)] == ["/apis/g.io/v1/things"]


def test_a_kind_that_is_not_served_is_refused_with_the_near_one(linked: Linked) -> None:
    with pytest.raises(UsageError, match="serves no `Thong` that can be audited; did you mean `Thing`"):
        listed([resource("Thing", "g.io")], linked(p=("*", ["*"], ["*"])), "Thong")
