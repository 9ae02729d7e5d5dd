"""Who answers for a webhook: its Service, and the pods behind it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from webhook.model.diagnosis import Diagnosis, Level
from webhook.model.path import walk
from webhook.model.selector import LabelSelector, Requirement
from webhook.model.webhook import ServiceReference
from webhook.runs.doctor.inventory import Held, Inventory, Registered

_KINDS: Final = ("Deployment", "StatefulSet", "DaemonSet")
_TEMPLATE: Final = ("spec", "template")
_POD: Final = (*_TEMPLATE, "spec")


@dataclass(frozen=True, slots=True)
class Workload:
    """A Deployment or the like whose pods answer."""

    held: Held
    replicas: int | None
    """How many there are to be; None where that is not a number of its own, as of a DaemonSet."""

    @property
    def labels(self) -> dict[str, str]:
        """The labels of its pods."""
        return _texts(self.held.get(*_TEMPLATE, "metadata", "labels"))

    @property
    def containers(self) -> list[dict[str, Any]]:
        """The containers of its pods."""
        return self.held.list(*_POD, "containers")

    @property
    def several(self) -> bool:
        """Are there to be more pods than one."""
        return self.replicas is None or self.replicas > 1


def behind(service: ServiceReference, inventory: Inventory) -> list[Workload]:
    """Give the workloads at hand that a Service selects."""
    held = inventory.get("Service", service.namespace, service.name)
    selector = _texts(held.get("spec", "selector")) if held else {}
    if not selector:
        return []
    found = [each for kind in _KINDS for each in inventory.list(kind, service.namespace)]
    workloads = [Workload(each, _replicas(each, inventory)) for each in found]
    return [each for each in workloads if selector.items() <= each.labels.items()]


def workloads(asked: Iterable[Registered], inventory: Inventory) -> Iterator[Diagnosis]:
    """Look at each Service that is asked, and at what is behind it, once."""
    by_service: dict[ServiceReference, Registered] = {}
    for each in asked:
        if each.webhook.service:
            by_service.setdefault(each.webhook.service, each)
    seen: set[tuple[str, str]] = set()
    for service, registered in by_service.items():
        yield from _service(registered, service, inventory)
        if (service.namespace, service.name) not in seen:
            seen.add((service.namespace, service.name))
            for workload in behind(service, inventory):
                yield from _workload(workload, service.namespace, inventory)


def _service(registered: Registered, service: ServiceReference, inventory: Inventory) -> Iterator[Diagnosis]:
    held = inventory.get("Service", service.namespace, service.name)
    at = ("clientConfig", "service")
    if held is None:
        if inventory.lacks("Service"):
            yield registered.find(
                Level.ERROR,
                "service",
                at,
                f"is asked by Service `{service.name}` in namespace `{service.namespace}`, which does not exist",
                "every call fails, and failurePolicy decides",
                "make the Service, or delete the registration with whose tool it has gone",
            )
        return
    ports = held.list("spec", "ports")
    port = next((each for each in ports if each.get("port") == service.port), None)
    if port is None:
        there = ", ".join(str(each.get("port")) for each in ports) or "none"
        yield registered.find(
            Level.ERROR,
            "port",
            (*at, "port"),
            f"is asked at port {service.port} of Service `{service.name}`, which has {there}",
            "every call fails, and failurePolicy decides",
            "name a port of the Service, or add this one to it",
        )
    if not _texts(held.get("spec", "selector")):
        return
    found = behind(service, inventory)
    if port is not None:
        for workload in found:
            yield from _target(held, ports.index(port), port, workload)
    if not found and _nobody(service, held, inventory):
        yield held.find(
            Level.ERROR,
            "selector",
            ("spec", "selector"),
            "selects no pods",
            "nobody answers: every call fails, and failurePolicy decides",
            "give the labels of the pods that answer",
        )


def _nobody(service: ServiceReference, held: Held, inventory: Inventory) -> bool:
    """Is it known that no pod is selected: pods may also come from what is not at hand, or no workload is."""
    if inventory.live:
        selector = _texts(held.get("spec", "selector"))
        pods = inventory.list("Pod", service.namespace)
        return inventory.lacks("Pod") and not any(
            selector.items() <= _texts(pod.get("metadata", "labels")).items() for pod in pods
        )
    return any(inventory.list(kind, service.namespace) for kind in _KINDS)


def _target(service: Held, index: int, port: Mapping[str, Any], workload: Workload) -> Iterator[Diagnosis]:
    target = port.get("targetPort", port.get("port"))
    declared = [each for one in workload.containers for each in _maps(one.get("ports"))]
    known = [each.get("name" if isinstance(target, str) else "containerPort") for each in declared]
    if target in known or (not isinstance(target, str) and not declared):
        return
    yield service.find(
        Level.ERROR if isinstance(target, str) else Level.WARNING,
        "target-port",
        ("spec", "ports", index, "targetPort"),
        f"leads to port `{target}`, which no container of {workload.held.resource} has",
        "nobody answers there: every call fails, and failurePolicy decides",
        f"name one of {', '.join(f'`{each}`' for each in known if each) or 'its ports, which it has to declare'}",
    )


def _workload(workload: Workload, namespace: str, inventory: Inventory) -> Iterator[Diagnosis]:
    yield from _number(workload, inventory)
    if not any("readinessProbe" in each for each in workload.containers):
        yield workload.held.find(
            Level.WARNING,
            "readiness",
            (*_POD, "containers"),
            "has no readinessProbe",
            "a pod is asked before it can answer, and while it stops: each rollout lets calls fail",
            "probe what says that it serves, such as `/readyz`",
        )
    if workload.several:
        yield from _spread(workload, namespace, inventory)
        yield from _budget(workload, namespace, inventory)


def _number(workload: Workload, inventory: Inventory) -> Iterator[Diagnosis]:
    if not workload.several:
        yield workload.held.find(
            Level.WARNING,
            "replicas",
            ("spec", "replicas"),
            f"has {workload.replicas} replica{'' if workload.replicas == 1 else 's'}",
            "whenever its pod moves, what it is asked about under failurePolicy Fail cannot be changed",
            "run 2 or more",
        )
    _, ready = walk(workload.held.object, ("status", "readyReplicas"))
    if inventory.live and workload.replicas and not ready:
        yield workload.held.find(
            Level.ERROR,
            "replicas-down",
            ("status", "readyReplicas"),
            "has no replica that is ready",
            "nobody answers: what it is asked about under failurePolicy Fail cannot be changed",
            f"see `kubectl describe pods --namespace={workload.held.resource.namespace}`; the way out meanwhile is to "
            "delete the webhook configurations, which need no webhook for that",
        )


def _spread(workload: Workload, namespace: str, inventory: Inventory) -> Iterator[Diagnosis]:
    spec = workload.held.get(*_POD)
    spread = _maps(spec.get("topologySpreadConstraints")) or workload.held.get(*_POD, "affinity", "podAntiAffinity")
    if not spread and workload.held.resource.kind != "DaemonSet":
        yield workload.held.find(
            Level.REMARK,
            "spread",
            _POD,
            "has neither topologySpreadConstraints nor podAntiAffinity",
            "all replicas may be put on one node, and go with it",
            "spread them over `kubernetes.io/hostname`",
        )
    pods = [each for each in inventory.list("Pod", namespace) if _selected(workload, each)]
    nodes = {node for each in pods if isinstance(node := each.get("spec").get("nodeName"), str)}
    if len(pods) > 1 and len(nodes) == 1:
        yield workload.held.find(
            Level.WARNING,
            "one-node",
            _POD,
            f"has all of its {len(pods)} pods on node `{nodes.pop()}`",
            "nobody answers when that node goes",
            "delete one of the pods when there is room elsewhere, and spread them over `kubernetes.io/hostname`",
        )


def _selected(workload: Workload, pod: Held) -> bool:
    return bool(workload.labels) and workload.labels.items() <= _texts(pod.get("metadata", "labels")).items()


def _budget(workload: Workload, namespace: str, inventory: Inventory) -> Iterator[Diagnosis]:
    kind = "PodDisruptionBudget"
    budgets = [each for each in inventory.list(kind, namespace) if _selector(each).matches(workload.labels)]
    if not budgets and kind not in inventory.unknown:
        yield workload.held.find(
            Level.WARNING,
            "disruption-budget",
            ("spec",),
            "has no PodDisruptionBudget",
            "drained nodes may take all replicas at once",
            "make one with `maxUnavailable: 1`",
        )
    for budget in budgets:
        if name := _forbids(budget, workload.replicas):
            yield budget.find(
                Level.WARNING,
                "disruption-budget",
                ("spec", name),
                f"never allows a pod of {workload.held.resource} to be evicted",
                "its nodes cannot be drained, so upgrades hang, or are forced and take all replicas at once",
                "set `maxUnavailable: 1`",
            )


def _forbids(budget: Held, replicas: int | None) -> str:
    spec = budget.get("spec")
    if spec.get("maxUnavailable") in (0, "0%"):
        return "maxUnavailable"
    least = spec.get("minAvailable")
    all_of_them = least == "100%" or (isinstance(least, int) and replicas is not None and least >= replicas)
    return "minAvailable" if all_of_them else ""


def _replicas(held: Held, inventory: Inventory) -> int | None:
    """Give the number that is written, or the least that an autoscaler makes of it; one without either."""
    if held.resource.kind == "DaemonSet":
        return None
    for scaler in inventory.list("HorizontalPodAutoscaler", held.resource.namespace):
        target = scaler.get("spec", "scaleTargetRef")
        if (target.get("kind"), target.get("name")) == (held.resource.kind, held.resource.name):
            return _number_of(scaler.get("spec").get("minReplicas"))
    return _number_of(held.get("spec").get("replicas"))


def _number_of(value: Any) -> int:
    return value if isinstance(value, int) else 1


def _selector(held: Held) -> LabelSelector:
    """Read a label selector that may be broken; what cannot be read selects nothing."""
    labels = _texts(held.get("spec", "selector", "matchLabels"))
    expressions = [
        Requirement(str(each.get("key")), str(each.get("operator")), tuple(map(str, each.get("values") or ())))
        for each in held.list("spec", "selector", "matchExpressions")
        if isinstance(each.get("values") or [], list)
    ]
    return LabelSelector((*(Requirement(key, "In", (value,)) for key, value in labels.items()), *expressions))


def _texts(value: Mapping[str, Any]) -> dict[str, str]:
    return {key: each for key, each in value.items() if isinstance(each, str)}


def _maps(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
