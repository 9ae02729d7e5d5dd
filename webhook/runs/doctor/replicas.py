"""Are there always pods that answer: how many, on how many nodes, and how many may go at once."""

from __future__ import annotations

from collections.abc import Iterator

from webhook.model.diagnosis import Diagnosis, Level
from webhook.model.path import walk
from webhook.model.selector import LabelSelector, Requirement
from webhook.runs.doctor.inventory import Held, Inventory
from webhook.runs.doctor.workload import POD, Workload, maps, texts


def replicas(workload: Workload, namespace: str, inventory: Inventory) -> Iterator[Diagnosis]:
    """Look at the pods of one workload."""
    yield from _number(workload, inventory)
    if not any("readinessProbe" in each for each in workload.containers):
        yield workload.held.find(
            Level.WARNING,
            "readiness",
            (*POD, "containers"),
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
    spec = workload.held.get(*POD)
    spread = maps(spec.get("topologySpreadConstraints")) or workload.held.get(*POD, "affinity", "podAntiAffinity")
    if not spread and workload.held.resource.kind != "DaemonSet":
        yield workload.held.find(
            Level.REMARK,
            "spread",
            POD,
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
            POD,
            f"has all of its {len(pods)} pods on node `{nodes.pop()}`",
            "nobody answers when that node goes",
            "delete one of the pods when there is room elsewhere, and spread them over `kubernetes.io/hostname`",
        )


def _selected(workload: Workload, pod: Held) -> bool:
    return bool(workload.labels) and workload.labels.items() <= texts(pod.get("metadata", "labels")).items()


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


def _selector(held: Held) -> LabelSelector:
    """Read a label selector that may be broken; what cannot be read selects nothing."""
    labels = texts(held.get("spec", "selector", "matchLabels"))
    expressions = [
        Requirement(str(each.get("key")), str(each.get("operator")), tuple(map(str, each.get("values") or ())))
        for each in held.list("spec", "selector", "matchExpressions")
        if isinstance(each.get("values") or [], list)
    ]
    return LabelSelector((*(Requirement(key, "In", (value,)) for key, value in labels.items()), *expressions))
