"""What pods may ask of the API server, and who may reach whom."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest
import yaml

from tests.chart.helm import NAMESPACE, Helm, Object, Rendered
from webhook.admission.plurals import Plurals
from webhook.model.request import GroupVersionKind
from webhook.sources.bundled import bundled

LOOKED_UP = frozenset({"list", "watch"})
ALWAYS = {("", "namespaces"), ("cozystack.io", "packages"), ("cozystack.io", "packagesources")}
"""Watched whatever policies say: for selectors, and for what the release has."""

OURS = {"cozyguard.io", "admissionregistration.k8s.io"}


def _looked_up_by_bundled_policies() -> set[tuple[str, str]]:
    plurals = Plurals()
    found = set()
    for file in bundled().glob("*/*/policy.yaml"):
        for lookup in yaml.safe_load(file.read_text())["spec"].get("lookups", []):
            group, _, version = lookup["apiVersion"].rpartition("/")
            found.add((group, plurals.resource(GroupVersionKind(group, version, lookup["kind"]))))
    return found


def _granted(rules: Iterable[Object]) -> dict[tuple[str, str], set[str]]:
    """Verbs by group and resource, of rules without names."""
    granted: dict[tuple[str, str], set[str]] = {}
    for rule in rules:
        for group in rule["apiGroups"]:
            for resource in () if "resourceNames" in rule else rule["resources"]:
                granted.setdefault((group, resource), set()).update(rule["verbs"])
    return granted


def test_exactly_the_kinds_that_bundled_policies_look_up_can_be_read(default: Rendered) -> None:
    granted = _granted(default.one("ClusterRole")["rules"])
    read = {kind: verbs for kind, verbs in granted.items() if kind[0] not in OURS}
    assert read.keys() == _looked_up_by_bundled_policies() | ALWAYS
    assert {frozenset(verbs) for verbs in read.values()} == {LOOKED_UP}


def test_what_ones_own_policies_look_up_can_be_added(default: Rendered, everything: Rendered) -> None:
    more = _granted(everything.one("ClusterRole")["rules"])
    assert more == _granted(default.one("ClusterRole")["rules"]) | {("apps", "deployments"): LOOKED_UP}


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
    granted = _granted(default.one("ClusterRole")["rules"])
    ours = {resource: verbs for (group, resource), verbs in granted.items() if group == "cozyguard.io"}
    assert {resource for resource, verbs in ours.items() if verbs == LOOKED_UP} == {
        "admissionpolicies",
        "policyexceptions",
    }
    assert all(resource.endswith("/status") for resource, verbs in ours.items() if verbs != LOOKED_UP)


def test_of_secrets_only_its_own_can_be_read_or_changed(default: Rendered, everything: Rendered) -> None:
    rules = [rule for rule in default.one("Role", namespace=NAMESPACE)["rules"] if rule["resources"] == ["secrets"]]
    named, unnamed = rules
    assert named["resourceNames"] == ["cozyguard-tls"]
    assert unnamed["verbs"] == ["create"]
    kept_by_others = everything.one("Role", namespace=NAMESPACE)
    assert "secrets" not in json.dumps(kept_by_others)


def test_secrets_and_leases_are_granted_in_its_own_namespace_alone(everything: Rendered) -> None:
    wide = json.dumps(everything.one("ClusterRole")["rules"])
    assert "secrets" not in wide
    assert "leases" not in wide


def test_the_operator_is_read_by_name(helm: Helm, default: Rendered) -> None:
    (rule,) = default.one("Role", namespace="cozy-system")["rules"]
    assert rule["resources"] == ["deployments"]
    assert rule["resourceNames"] == ["cozystack-operator"]
    assert {"update", "patch", "delete", "create"}.isdisjoint(rule["verbs"])
    assert helm.template({"cozystack": {"operatorNamespace": "else"}}).one("RoleBinding", namespace="else")


def test_every_role_is_bound_to_the_account_of_the_pods(everything: Rendered) -> None:
    account = {"kind": "ServiceAccount", "name": everything.pod["serviceAccountName"], "namespace": NAMESPACE}
    bindings = [*everything.of("RoleBinding"), *everything.of("ClusterRoleBinding")]
    assert [binding["subjects"] for binding in bindings] == [[account]] * 3
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
