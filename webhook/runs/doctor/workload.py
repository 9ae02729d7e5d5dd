"""The Deployment or the like whose pods answer for a webhook."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from webhook.model.webhook import ServiceReference
from webhook.runs.doctor.inventory import Held, Inventory

KINDS: Final = ("Deployment", "StatefulSet", "DaemonSet")
_TEMPLATE: Final = ("spec", "template")
POD: Final = (*_TEMPLATE, "spec")


@dataclass(frozen=True, slots=True)
class Workload:
    """A Deployment or the like whose pods answer."""

    held: Held
    replicas: int | None
    """How many there are to be; None where that is not a number of its own, as of a DaemonSet."""

    @property
    def labels(self) -> dict[str, str]:
        """The labels of its pods."""
        return texts(self.held.get(*_TEMPLATE, "metadata", "labels"))

    @property
    def containers(self) -> list[dict[str, Any]]:
        """The containers of its pods."""
        return self.held.list(*POD, "containers")

    @property
    def several(self) -> bool:
        """Are there to be more pods than one."""
        return self.replicas is None or self.replicas > 1


def behind(service: ServiceReference, inventory: Inventory) -> list[Workload]:
    """Give the workloads at hand that a Service selects."""
    held = inventory.get("Service", service.namespace, service.name)
    selector = texts(held.get("spec", "selector")) if held else {}
    if not selector:
        return []
    found = [each for kind in KINDS for each in inventory.list(kind, service.namespace)]
    workloads = [Workload(each, _replicas(each, inventory)) for each in found]
    return [each for each in workloads if selector.items() <= each.labels.items()]


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


def texts(value: Mapping[str, Any]) -> dict[str, str]:
    """Give the entries of a map that are text, such as labels."""
    return {key: each for key, each in value.items() if isinstance(each, str)}


def maps(value: Any) -> list[dict[str, Any]]:
    """Give the entries of a list that are maps."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
