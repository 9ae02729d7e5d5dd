"""Does the Service that is asked lead to pods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from webhook.model.diagnosis import Diagnosis, Level
from webhook.model.webhook import ServiceReference
from webhook.runs.doctor.inventory import Held, Inventory, Registered
from webhook.runs.doctor.workload import KINDS, Workload, behind, maps, texts

_AT: Final = ("clientConfig", "service")
_FAILS: Final = "every call fails, and failurePolicy decides"


def leads_nowhere(registered: Registered, service: ServiceReference, inventory: Inventory) -> Iterator[Diagnosis]:
    """Follow the way of a call: the Service, its port, the pods that it selects, their port."""
    held = inventory.get("Service", service.namespace, service.name)
    if held is None:
        if inventory.lacks("Service"):
            yield registered.find(
                Level.ERROR,
                "service",
                _AT,
                f"is asked by Service `{service.name}` in namespace `{service.namespace}`, which does not exist",
                _FAILS,
                "make the Service, or delete the registration with whose tool it has gone",
            )
        return
    found = behind(service, inventory)
    ports = [each.get("port") for each in held.list("spec", "ports")]
    if service.port in ports:
        for workload in found:
            yield from _target(held, ports.index(service.port), workload)
    else:
        yield registered.find(
            Level.ERROR,
            "port",
            (*_AT, "port"),
            f"is asked at port {service.port} of Service `{service.name}`, which has {_listed(ports)}",
            _FAILS,
            "name a port of the Service, or add this one to it",
        )
    if not found and texts(held.get("spec", "selector")):
        yield from _selects_nothing(service, held, inventory)


def _listed(ports: Sequence[Any]) -> str:
    return ", ".join(map(str, ports)) or "none"


def _selects_nothing(service: ServiceReference, held: Held, inventory: Inventory) -> Iterator[Diagnosis]:
    """Look for pods by themselves in a cluster. In files a label may be missing that pods get while they run."""
    selector = texts(held.get("spec", "selector"))
    if inventory.live:
        pods = [texts(each.get("metadata", "labels")) for each in inventory.list("Pod", service.namespace)]
        nobody = inventory.lacks("Pod") and not any(selector.items() <= labels.items() for labels in pods)
    else:
        nobody = any(inventory.list(kind, service.namespace) for kind in KINDS)
    if nobody:
        yield held.find(
            Level.ERROR if inventory.live else Level.WARNING,
            "selector",
            ("spec", "selector"),
            "selects no pods" if inventory.live else "selects the pods of nothing that is at hand",
            f"nobody answers: {_FAILS}",
            "give the labels of the pods that answer",
        )


def _target(service: Held, index: int, workload: Workload) -> Iterator[Diagnosis]:
    port = service.list("spec", "ports")[index]
    target = port.get("targetPort", port.get("port"))
    declared = [each for one in workload.containers for each in maps(one.get("ports"))]
    known = [each.get("name" if isinstance(target, str) else "containerPort") for each in declared]
    if target in known or (not isinstance(target, str) and not declared):
        return
    yield service.find(
        Level.ERROR if isinstance(target, str) else Level.WARNING,
        "target-port",
        ("spec", "ports", index, "targetPort"),
        f"leads to port `{target}`, which no container of {workload.held.resource} has",
        f"nobody answers there: {_FAILS}",
        f"name one of {', '.join(f'`{each}`' for each in known if each) or 'its ports, which it has to declare'}",
    )
