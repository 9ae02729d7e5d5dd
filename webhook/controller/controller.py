"""All that a replica does in a cluster besides answering: it says that it lives, takes certificates, and may lead."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Final

from webhook.cluster.client import Client
from webhook.controller.certificates import Pair
from webhook.controller.duties import Duties, InForce
from webhook.controller.leader import Leader
from webhook.controller.lease import Election, Terms
from webhook.controller.replicas import Replica
from webhook.controller.secret import CertificateSource
from webhook.controller.troubles import Log, Samples, Troubles

LEASE: Final = "cozyguard-controller"

Task = Callable[[], Awaitable[None]]


class Controller:
    """One replica of the controller; each process that answers reviews has one.

    With certificates of our own (`duties.secret`) it hands each pair to `taken`; else `serves` has to be called with
    the fingerprint of what is served. `in_force` gives None until reviews are answered. `also` are tasks that the
    leader has besides, each running until cancelled.
    """

    def __init__(
        self,
        client: Client,
        identity: str,
        duties: Duties,
        in_force: Callable[[], InForce | None],
        log: Log,
        *,
        taken: Callable[[Pair], None] = lambda _: None,
        also: Iterable[Task] = (),
        terms: Terms = Terms(),  # noqa: B008 - it cannot be changed
    ) -> None:
        """`identity` is the name of this replica, which no other one has, such as that of the pod and the process."""
        namespace = duties.endpoint.namespace
        self._troubles = Troubles(log)
        self._replica = Replica(client, namespace, identity, lambda: _number(in_force()), self._troubles)
        self._repairs: Counter[str] = Counter()
        self._new_leader = partial(Leader, client, duties, in_force, self._troubles, self._repairs)
        self._leader: Leader | None = None
        self._election = Election(client, namespace, LEASE, identity, terms, self._troubles)
        self._also = tuple(also)
        self._source: CertificateSource | None = None
        if duties.secret:
            self._source = CertificateSource(
                client,
                namespace,
                duties.secret,
                duties.endpoint.hosts,
                self._troubles,
                announce=self._replica.tell,
                taken=taken,
            )

    async def run(self) -> None:
        """Take part until cancelled; the Leases are then given back."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._replica.run())
            group.create_task(self._election.run(self._lead))
            if self._source:
                group.create_task(self._source.run())

    async def serves(self, leaf: str) -> None:
        """Tell the leader which certificate is served, by its fingerprint."""
        await self._replica.tell(leaf)

    def changed(self) -> None:
        """Other policies, another release or another configuration are in force, or the first ones."""
        self._replica.changed()
        if self._leader:
            self._leader.changed()

    def samples(self) -> Samples:
        """Give the numbers for metrics. What is kept in step is told by the leader alone."""
        return {
            "cozyguard_leader": [[int(self._election.leading)]],
            "cozyguard_controller_errors_total": [[task, n] for task, n in self._troubles.failures.items()],
            "cozyguard_registration_repairs_total": [[path, n] for path, n in self._repairs.items()],
            **(self._leader.samples() if self._leader else {}),
        }

    async def _lead(self) -> None:
        self._leader = self._new_leader()
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._leader.run())
                for task in self._also:
                    group.create_task(_run(task))
        finally:
            self._leader = None


def _number(current: InForce | None) -> int:
    return len(current.policies) if current else 0


async def _run(task: Task) -> None:
    await task()
