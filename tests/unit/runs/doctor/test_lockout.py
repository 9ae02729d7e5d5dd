import re
from typing import Any

import pytest

from webhook.engine.patch import apply
from webhook.runs.doctor.dangers import DANGERS, INFRASTRUCTURE, Danger

CLIENT = {"service": {"name": "policy", "namespace": "policy-system", "path": "/validate"}}
LEASES = {
    "name": "leases",
    "expression": "!(request.resource.group == 'coordination.k8s.io' && request.resource.resource == 'leases')",
}
KUBELETS = {"name": "kubelets", "expression": "!('system:nodes' in request.userInfo.groups)"}


@pytest.fixture
def everywhere(excluding: Any) -> Any:
    """Leave out every namespace that counts, and some more."""
    return lambda *names: excluding("kube-system", *INFRASTRUCTURE, *names)


def test_a_webhook_asked_about_its_own_pods_is_an_error_at_its_selector(
    doctor: Any, hook: Any, rule: Any, registration: Any, everywhere: Any
) -> None:
    asked = hook(clientConfig=CLIENT, rules=[rule("pods")], namespaceSelector=everywhere())
    found = doctor(registration(asked))
    assert found.checks["own-namespace"] == "error"
    assert found.field("own-namespace") == "webhooks[0].namespaceSelector"
    assert found["own-namespace"].message == (
        "`check.example.org` is asked about `pods` in namespace `policy-system`, where its own pods run, "
        "under failurePolicy Fail"
    )


@pytest.mark.parametrize("resource", ["replicasets", "deployments"])
def test_what_makes_its_pods_counts_like_them(
    resource: str, doctor: Any, hook: Any, rule: Any, registration: Any
) -> None:
    asked = hook(clientConfig=CLIENT, rules=[rule(resource, group="apps")])
    assert "own-namespace" in doctor(registration(asked)).checks


@pytest.mark.parametrize(
    "changes",
    [
        {"failurePolicy": "Ignore"},
        {"matchConditions": [{"name": "own", "expression": "request.namespace != 'policy-system'"}]},
        {"matchConditions": [{"name": "us", "expression": "!request.userInfo.username.startsWith('system:')"}]},
        {"namespaceSelector": {"matchLabels": {"policy": "on"}}},
        {"rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["DELETE"], "resources": ["pods"]}]},
        {"rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}]},
        {"rules": []},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_webhook_that_is_not_asked_about_its_own_pods_is_not_found(
    changes: dict[str, Any], doctor: Any, hook: Any, rule: Any, registration: Any
) -> None:
    asked = hook(clientConfig=CLIENT, rules=[rule("pods")]) | changes
    assert "own-namespace" not in doctor(registration(asked)).checks


def test_labels_of_a_namespace_at_hand_decide(doctor: Any, hook: Any, rule: Any, registration: Any) -> None:
    selector = {"matchExpressions": [{"key": "policy", "operator": "DoesNotExist"}]}
    asked = registration(hook(clientConfig=CLIENT, rules=[rule("pods")], namespaceSelector=selector))
    namespace = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "policy-system", "labels": {"policy": "off"}},
    }
    assert "own-namespace" in doctor(asked).checks
    assert "own-namespace" not in doctor(asked, namespace).checks


def test_a_url_that_leads_to_a_service_has_a_namespace_too(
    doctor: Any, hook: Any, rule: Any, registration: Any
) -> None:
    asked = hook(clientConfig={"url": "https://policy.policy-system.svc:8443/validate"}, rules=[rule("pods")])
    assert "own-namespace" in doctor(registration(asked)).checks


def test_a_webhook_by_url_has_no_own_namespace(doctor: Any, hook: Any, rule: Any, registration: Any) -> None:
    assert "own-namespace" not in doctor(registration(hook(rules=[rule("pods")]))).checks


def test_kube_system_has_to_be_left_out(doctor: Any, hook: Any, rule: Any, registration: Any, excluding: Any) -> None:
    assert doctor(registration(hook(rules=[rule("pods")]))).checks["kube-system"] == "error"
    asked = hook(rules=[rule("pods")], namespaceSelector=excluding("kube-system"))
    assert "kube-system" not in doctor(registration(asked)).checks


def test_namespaces_that_its_pods_depend_on_are_a_warning(
    doctor: Any, hook: Any, rule: Any, registration: Any, excluding: Any, everywhere: Any
) -> None:
    asked = hook(rules=[rule("pods")], namespaceSelector=excluding("kube-system"))
    assert doctor(registration(asked)).checks == {"infrastructure": "warning"}
    assert doctor(registration(hook(rules=[rule("pods")], namespaceSelector=everywhere()))).checks == {}


def test_of_a_cluster_only_the_namespaces_that_are_there_count(
    doctor: Any, hook: Any, rule: Any, registration: Any
) -> None:
    asked = registration(hook(rules=[rule("pods")]))
    there = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "cozy-cilium"}}
    found = doctor(asked, there, live=True)
    assert "kube-system" not in found.checks
    assert "`cozy-cilium`, under" in found["infrastructure"].message


@pytest.mark.parametrize("selector", [None, {}, {"matchLabels": {"a": "b"}}, "NotIn", "Exists"])
def test_the_fix_of_a_namespace_works_as_printed(
    selector: Any, doctor: Any, hook: Any, rule: Any, registration: Any, excluding: Any
) -> None:
    if selector == "NotIn":
        selector = excluding("elsewhere")
    elif selector == "Exists":
        selector = {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "Exists"}]}
    obj = registration(hook(clientConfig=CLIENT, rules=[rule("pods")], namespaceSelector=selector))
    labelled = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "policy-system", "labels": {"a": "b", "kubernetes.io/metadata.name": "policy-system"}},
    }
    before = doctor(obj, labelled)
    assert "own-namespace" in before.checks
    for one in before.diagnoses:
        if one.check in ("own-namespace", "kube-system", "infrastructure"):
            obj = apply(obj, one.fix.patch)
    assert doctor(obj, labelled).checks == {}


@pytest.mark.parametrize(
    ("check", "group", "resource"),
    [
        ("node-heartbeat", "coordination.k8s.io", "leases"),
        ("node-heartbeat", "", "nodes"),
        ("node-heartbeat", "", "nodes/status"),
        ("leader-election", "coordination.k8s.io", "leases"),
        ("token-reviews", "authentication.k8s.io", "tokenreviews"),
        ("token-reviews", "authorization.k8s.io", "subjectaccessreviews"),
        ("events", "", "events"),
        ("events", "events.k8s.io", "events"),
        ("crds", "apiextensions.k8s.io", "customresourcedefinitions"),
        ("apiservices", "apiregistration.k8s.io", "apiservices"),
        ("rbac", "rbac.authorization.k8s.io", "clusterroles"),
        ("namespace-deletion", "", "namespaces/finalize"),
    ],
)
def test_what_a_cluster_lives_by_is_found_at_its_rule(
    check: str, group: str, resource: str, doctor: Any, hook: Any, rule: Any, registration: Any
) -> None:
    rules = [rule("packages", group="cozystack.io"), rule(resource, group=group)]
    found = doctor(registration(hook(rules=rules)))
    assert found.field(check) == "webhooks[0].rules[1]"


@pytest.mark.parametrize(
    "danger", [one for one in DANGERS if one.check != "namespace-deletion"], ids=lambda one: one.check
)
def test_the_match_conditions_that_are_printed_let_those_requests_pass_and_no_others(
    danger: Danger, doctor: Any, hook: Any, rule: Any, registration: Any
) -> None:
    wide = [rule("*/*", group="*", operations=("*",))]
    printed = re.findall(r"`(!\(.*?\))`", doctor(registration(hook(rules=wide)))[danger.check].fix.text)
    conditions = [{"name": f"c{index}", "expression": text} for index, text in enumerate(printed)]
    found = doctor(registration(hook(rules=wide, matchConditions=conditions))).checks
    assert danger.check not in found
    assert {"match-condition"}.isdisjoint(found)
    assert "own-namespace" not in found
    assert "kube-system" in found


def test_webhook_configurations_are_never_sent_to_webhooks(
    doctor: Any, hook: Any, rule: Any, registration: Any
) -> None:
    asked = rule(
        "validatingwebhookconfigurations", "mutatingwebhookconfigurations", group="admissionregistration.k8s.io"
    )
    assert doctor(registration(hook(rules=[asked]))).checks == {}


@pytest.mark.parametrize("condition", [LEASES, KUBELETS], ids=lambda condition: condition["name"])
def test_a_match_condition_that_lets_heartbeats_pass_is_understood(
    condition: dict[str, str], doctor: Any, hook: Any, rule: Any, registration: Any
) -> None:
    rules = [rule("leases", group="coordination.k8s.io")]
    asked = hook(rules=rules, matchConditions=[condition])
    assert "node-heartbeat" not in doctor(registration(asked)).checks


def test_a_match_condition_that_fails_refuses_the_request(doctor: Any, hook: Any, rule: Any, registration: Any) -> None:
    asked = hook(rules=[rule("nodes")], matchConditions=[{"name": "fails", "expression": "object.spec.missing == 1"}])
    assert "node-heartbeat" in doctor(registration(asked)).checks


def test_under_ignore_only_what_cannot_wait_is_a_warning(doctor: Any, hook: Any, rule: Any, registration: Any) -> None:
    rules = [rule("nodes", "events"), rule("leases", group="coordination.k8s.io")]
    found = doctor(registration(hook(rules=rules, failurePolicy="Ignore")))
    assert found.checks == {"node-heartbeat": "warning", "leader-election": "warning"}
    assert found["node-heartbeat"].why.startswith("each of them waits up to 5 s")


def test_another_version_of_a_resource_counts_unless_the_match_is_exact(
    doctor: Any, hook: Any, rule: Any, registration: Any
) -> None:
    rules = [rule("leases", group="coordination.k8s.io") | {"apiVersions": ["v1beta1"]}]
    assert "node-heartbeat" in doctor(registration(hook(rules=rules))).checks
    assert "node-heartbeat" not in doctor(registration(hook(rules=rules, matchPolicy="Exact"))).checks


def test_namespaces_of_cozystack_have_its_label_unless_files_say_otherwise(
    doctor: Any, hook: Any, rule: Any, registration: Any, excluding: Any
) -> None:
    system = {"key": "cozystack.io/system", "operator": "NotIn", "values": ["true"]}
    selector = {"matchExpressions": [system, *excluding("kube-system")["matchExpressions"]]}
    asked = registration(hook(rules=[rule("pods")], namespaceSelector=selector))
    assert doctor(asked).checks == {}
    bare = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "cozy-cilium"}}
    assert doctor(asked, bare).checks == {"infrastructure": "warning"}
    assert doctor(asked, bare, live=True).checks == {"infrastructure": "warning"}
