from typing import Any

import pytest

LABELS = {"app": "policy"}
CLIENT = {"service": {"name": "policy", "namespace": "policy-system", "path": "/validate"}}
PLACE = {"name": "policy", "namespace": "policy-system"}


def service(**changes: Any) -> dict[str, Any]:
    spec = {"selector": LABELS, "ports": [{"port": 443, "targetPort": "https"}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": PLACE, "spec": spec | changes}


def deployment(pod: dict[str, Any] | None = None, status: dict[str, Any] | None = None, **changes: Any) -> Any:
    container = {"name": "main", "ports": [{"name": "https", "containerPort": 8443}], "readinessProbe": {}}
    template = {"metadata": {"labels": LABELS}, "spec": {"containers": [container], **SPREAD, **(pod or {})}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": PLACE,
        "spec": {"replicas": 2, "template": template} | changes,
        "status": {"readyReplicas": 2} if status is None else status,
    }


SPREAD = {"topologySpreadConstraints": [{"topologyKey": "kubernetes.io/hostname"}]}


def budget(**changes: Any) -> dict[str, Any]:
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": LABELS}} | changes
    kept = {name: value for name, value in spec.items() if value is not None}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": PLACE, "spec": kept}


def pod(name: str, node: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "policy-system", "labels": LABELS}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"nodeName": node}}


@pytest.fixture
def asked(registration: Any, hook: Any) -> Any:
    """A registration of which only the Service matters."""
    return registration(hook(clientConfig=CLIENT))


def test_a_service_with_two_spread_ready_replicas_is_sound(doctor: Any, asked: Any) -> None:
    objects = [asked, service(), deployment(), budget(), pod("a", "node-1"), pod("b", "node-2")]
    assert doctor(*objects, live=True).checks == {}
    assert doctor(*objects).checks == {}


def test_objects_of_a_chart_that_name_no_namespace_are_where_they_are_asked_for(doctor: Any, asked: Any) -> None:
    objects = [service(), deployment(replicas=1), budget()]
    placeless = [{**each, "metadata": {"name": "policy"}} for each in objects]
    assert doctor(asked, *placeless).checks == {"replicas": "warning"}


def test_a_service_that_does_not_exist_is_found_in_a_cluster_only(doctor: Any, asked: Any) -> None:
    assert doctor(asked, live=True).checks == {"service": "error"}
    assert doctor(asked, live=True, unknown=("Service",)).checks == {}
    assert doctor(asked).checks == {}


def test_a_port_that_the_service_has_not_is_found(doctor: Any, asked: Any) -> None:
    found = doctor(asked, service(ports=[{"port": 8443, "targetPort": "https"}]), deployment(), budget())
    assert found.checks == {"port": "error"}
    assert found["port"].message == "`check.example.org` is asked at port 443 of Service `policy`, which has 8443"


@pytest.mark.parametrize(
    ("target", "checks"),
    [("https", {}), (8443, {}), ("http", {"target-port": "error"}), (9443, {"target-port": "warning"})],
)
def test_a_port_that_no_container_has_is_found(target: Any, checks: Any, doctor: Any, asked: Any) -> None:
    one = service(ports=[{"port": 443, "targetPort": target}])
    assert doctor(asked, one, deployment(), budget()).checks == checks


def test_a_service_that_selects_nothing_is_found(doctor: Any, asked: Any) -> None:
    other = service(selector={"app": "polcy"})
    assert doctor(asked, other, deployment()).checks == {"selector": "warning"}
    assert doctor(asked, other, live=True).checks == {"selector": "error"}
    assert doctor(asked, other).checks == {}
    assert doctor(asked, service(selector=None), deployment()).checks == {}


def test_pods_that_are_nobodys_are_pods_too(doctor: Any, asked: Any) -> None:
    assert doctor(asked, service(), pod("a", "node-1"), live=True).checks == {}


def test_one_replica_is_found_unless_an_autoscaler_makes_more(doctor: Any, asked: Any) -> None:
    one = deployment(replicas=1)
    assert doctor(asked, service(), one, budget()).checks == {"replicas": "warning"}
    scaler = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": PLACE,
        "spec": {"minReplicas": 2, "scaleTargetRef": {"kind": "Deployment", "name": "policy"}},
    }
    assert doctor(asked, service(), one, budget(), scaler).checks == {}


def test_that_no_replica_is_ready_is_told_with_the_way_out(doctor: Any, asked: Any) -> None:
    found = doctor(asked, service(), deployment(status={}), budget(), live=True)
    assert found.checks["replicas-down"] == "error"
    assert "delete the webhook configurations" in found["replicas-down"].fix.text


@pytest.mark.parametrize(
    ("changes", "checks"),
    [
        ({"maxUnavailable": 0}, {"disruption-budget": "warning"}),
        ({"maxUnavailable": None, "minAvailable": 2}, {"disruption-budget": "warning"}),
        ({"maxUnavailable": None, "minAvailable": "100%"}, {"disruption-budget": "warning"}),
        ({"maxUnavailable": None, "minAvailable": 1}, {}),
        ({"selector": {"matchLabels": {"app": "other"}}}, {"disruption-budget": "warning"}),
        ({"selector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["policy"]}]}}, {}),
    ],
)
def test_a_budget_allows_some_evictions(changes: Any, checks: Any, doctor: Any, asked: Any) -> None:
    assert doctor(asked, service(), deployment(), budget(**changes)).checks == checks


def test_a_budget_is_missed_unless_it_cannot_be_known(doctor: Any, asked: Any) -> None:
    objects = [asked, service(), deployment(), pod("a", "node-1"), pod("b", "node-2")]
    assert doctor(*objects).checks == {"disruption-budget": "warning"}
    assert doctor(*objects, live=True, unknown=("PodDisruptionBudget",)).checks == {}


def test_a_pod_without_a_readiness_probe_is_found(doctor: Any, asked: Any) -> None:
    containers = [{"name": "main", "ports": [{"name": "https", "containerPort": 8443}]}]
    found = doctor(asked, service(), deployment(pod={"containers": containers}), budget())
    assert found.checks == {"readiness": "warning"}


def test_replicas_that_nothing_keeps_apart_are_a_remark(doctor: Any, asked: Any) -> None:
    together = deployment(pod={"topologySpreadConstraints": None})
    assert doctor(asked, service(), together, budget()).checks == {"spread": "remark"}
    apart = deployment(pod={"topologySpreadConstraints": None, "affinity": {"podAntiAffinity": {"required": []}}})
    assert doctor(asked, service(), apart, budget()).checks == {}


def test_pods_on_one_node_are_found(doctor: Any, asked: Any) -> None:
    objects = [asked, service(), deployment(), budget(), pod("a", "node-1"), pod("b", "node-1")]
    found = doctor(*objects, live=True)
    assert found.checks == {"one-node": "warning"}
    assert "`node-1`" in found["one-node"].message


def test_webhooks_of_one_service_are_told_of_its_pods_once(doctor: Any, registration: Any, hook: Any) -> None:
    both = registration(hook(clientConfig=CLIENT), hook(name="two.example.org", clientConfig=CLIENT))
    assert len(doctor(both, service(), deployment(replicas=1), budget()).diagnoses) == 1


def test_labels_of_its_own_pods_decide_about_an_object_selector(
    doctor: Any, registration: Any, hook: Any, rule: Any
) -> None:
    selector = {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["policy"]}]}
    asked = registration(hook(clientConfig=CLIENT, rules=[rule("pods")], objectSelector=selector))
    assert "own-namespace" in doctor(asked).checks
    assert "own-namespace" not in doctor(asked, service(), deployment(), budget()).checks
