"""What pods may ask of the API server, and who may reach whom."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from tests.chart.helm import NAMESPACE, Helm, Rendered
from webhook.admission.plurals import Plurals
from webhook.cluster.wants import wanted
from webhook.engine.policyset import PolicySet
from webhook.model.request import GroupVersionKind
from webhook.sources import compiled
from webhook.sources.bundled import bundled

RIGHTS = Path(__file__).parents[2] / "docs" / "registration.md"

WATCH = frozenset({"list", "watch"})


class Watched(NamedTuple):
    """What may be listed and watched; "" stands for all namespaces, and for all names."""

    namespace: str
    group: str
    resource: str
    name: str = ""


def _watched_by_the_server() -> set[Watched]:
    """What the bundled policies need, as the server itself works it out."""
    plurals = Plurals()
    scopes = wanted(PolicySet.link(compiled.load([bundled()]).policies))
    kinds = [(scope, scope.api_version.rpartition("/")) for scope in scopes]
    return {
        Watched(
            scope.namespace if scope.namespace == "cozy-system" else "",  # every Cozystack has this one
            group,
            plurals.resource(GroupVersionKind(group, version, scope.kind)),
            scope.name,
        )
        for scope, (group, _, version) in kinds
    }


def _rules(rendered: Rendered) -> Iterator[tuple[Watched, set[str]]]:
    """Every right of every role, one by one, with its verbs."""
    for role in (*rendered.of("ClusterRole"), *rendered.of("Role")):
        namespace = role["metadata"].get("namespace", "")
        for rule in role["rules"]:
            for group, resource, name in product(rule["apiGroups"], rule["resources"], rule.get("resourceNames", [""])):
                yield Watched(namespace, group, resource, name), set(rule["verbs"])


def _watchable(rendered: Rendered) -> set[Watched]:
    ours = ("cozyguard.io", "admissionregistration.k8s.io", "coordination.k8s.io")
    return {
        right
        for right, verbs in _rules(rendered)
        if verbs >= WATCH and right.group not in ours and right.resource != "secrets"
    }


def test_exactly_what_bundled_policies_look_up_can_be_watched(default: Rendered) -> None:
    assert _watchable(default) == _watched_by_the_server()


def test_what_is_looked_up_can_be_read_and_nothing_else(default: Rendered) -> None:
    rights = dict(_rules(default))
    namespaces = Watched("", "", "namespaces")
    assert rights.pop(namespaces) == WATCH | {"get"}, "a new namespace is asked for before the watch tells of it"
    assert [right for right in _watchable(default) - {namespaces} if rights[right] != WATCH] == []


def test_what_ones_own_policies_look_up_can_be_added(default: Rendered, everything: Rendered) -> None:
    assert _watchable(everything) - _watchable(default) == {Watched("", "apps", "deployments")}


@pytest.mark.parametrize("word", ["*", "escalate", "bind", "impersonate", "deletecollection"])
def test_nothing_is_granted_that_stands_for_more(everything: Rendered, word: str) -> None:
    rules = [rule for kind in ("Role", "ClusterRole") for role in everything.of(kind) for rule in role["rules"]]
    assert [rule for rule in rules if word in json.dumps(rule)] == []


def test_the_registration_can_be_changed_but_neither_made_nor_removed(default: Rendered) -> None:
    (rule,) = (
        rule for rule in default.one("ClusterRole")["rules"] if rule["apiGroups"] == ["admissionregistration.k8s.io"]
    )
    assert rule["resourceNames"] == ["cozyguard"]
    assert "patch" in rule["verbs"]
    assert {"create", "update", "delete"}.isdisjoint(rule["verbs"])


def test_policies_can_be_read_and_only_their_status_written(default: Rendered) -> None:
    ours = {right.resource: verbs for right, verbs in _rules(default) if right.group == "cozyguard.io"}
    assert ours == {
        "admissionpolicies": WATCH,
        "policyexceptions": WATCH,
        "admissionpolicies/status": {"patch"},
        "policyexceptions/status": {"patch"},
    }


def test_of_secrets_only_its_own_can_be_read_or_changed(default: Rendered, everything: Rendered) -> None:
    rules = [rule for rule in default.one("Role", namespace=NAMESPACE)["rules"] if rule["resources"] == ["secrets"]]
    named, unnamed = rules
    assert named["resourceNames"] == ["cozyguard-tls"]
    assert unnamed["verbs"] == ["create"]
    kept_by_others = everything.one("Role", namespace=NAMESPACE)
    assert "secrets" not in json.dumps(kept_by_others)


def test_the_controller_has_the_rights_of_its_page(default: Rendered) -> None:
    """docs/registration.md lists them, and the controller is tested with these alone."""
    block = re.search(r"^```yaml\n(# rights\.yaml\n.*?)^```$", RIGHTS.read_text(), re.MULTILINE | re.DOTALL)
    assert block
    page = Rendered(yaml.safe_load_all(block[1]))
    wanted = dict(_rules(page))
    assert {right: verbs for right, verbs in _rules(default) if right in wanted} == wanted
    beside = {right for right, _ in _rules(default) if right.namespace == NAMESPACE} - wanted.keys()
    assert beside == set()


def test_secrets_and_leases_are_granted_in_its_own_namespace_alone(everything: Rendered) -> None:
    wide = json.dumps(everything.one("ClusterRole")["rules"])
    assert "secrets" not in wide
    assert "leases" not in wide


def test_every_role_is_bound_to_the_account_of_the_pods(everything: Rendered) -> None:
    account = {"kind": "ServiceAccount", "name": everything.pod["serviceAccountName"], "namespace": NAMESPACE}
    bindings = [*everything.of("RoleBinding"), *everything.of("ClusterRoleBinding")]
    assert sum(account in binding["subjects"] for binding in bindings) == 3
    roles = {(role["kind"], role["metadata"].get("namespace")) for role in everything if role["kind"].endswith("Role")}
    bound = {(binding["roleRef"]["kind"], binding["metadata"].get("namespace")) for binding in bindings}
    assert bound == roles


def test_the_network_lets_reviews_and_metrics_in_and_calls_of_the_api_server_out(default: Rendered) -> None:
    spec = default.one("NetworkPolicy")["spec"]
    assert spec["policyTypes"] == ["Ingress", "Egress"]
    assert spec["ingress"] == [
        {"ports": [{"port": "webhook"}]},
        {"ports": [{"port": "probes"}], "from": [{"namespaceSelector": {}}]},
    ]
    assert spec["egress"] == [{"ports": [{"port": 443}, {"port": 6443}]}]


def test_the_network_policy_can_be_narrowed(helm: Helm) -> None:
    monitoring = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "cozy-monitoring"}}}
    spec = helm.template({"networkPolicy": {"metricsFrom": [monitoring], "apiServerPorts": [16443]}}).one(
        "NetworkPolicy"
    )["spec"]
    assert spec["ingress"][1]["from"] == [monitoring]
    assert spec["egress"] == [{"ports": [{"port": 16443}]}]
