"""Who answers for the webhooks: each Service, and what is behind it, is looked at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from webhook.model.diagnosis import Diagnosis
from webhook.model.webhook import ServiceReference
from webhook.runs.doctor.inventory import Inventory, Registered
from webhook.runs.doctor.replicas import replicas
from webhook.runs.doctor.service import leads_nowhere
from webhook.runs.doctor.workload import behind


def answering(asked: Iterable[Registered], inventory: Inventory) -> Iterator[Diagnosis]:
    """Look at each Service that is asked, and at what is behind it, once."""
    by_service: dict[ServiceReference, Registered] = {}
    for each in asked:
        if each.webhook.service:
            by_service.setdefault(each.webhook.service, each)
    seen: set[tuple[str, str]] = set()
    for service, registered in by_service.items():
        yield from leads_nowhere(registered, service, inventory)
        if (service.namespace, service.name) not in seen:
            seen.add((service.namespace, service.name))
            for workload in behind(service, inventory):
                yield from replicas(workload, service.namespace, inventory)
