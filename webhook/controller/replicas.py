"""Which replicas there are: each keeps a Lease that says what it serves, and the leader removes those of the dead."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

from webhook.cluster.client import Client
from webhook.cluster.faults import ApiError
from webhook.cluster.resources import LEASES
from webhook.controller.follow import wait
from webhook.controller.keyring import LEAF
from webhook.controller.lease import micro_time
from webhook.controller.troubles import Troubles
from webhook.model.request import Object

POLICIES: Final = "cozyguard.io/policies"
LABELS: Final = {"app.kubernetes.io/name": "cozyguard", "app.kubernetes.io/component": "replica"}
SELECTOR: Final = ",".join(f"{key}={value}" for key, value in LABELS.items())
TASK: Final = "replica-lease"

_RENEW: Final = 10.0
_DURATION: Final = 40


class Replica:
    """Our own Lease. `tell` says what we serve, `run` keeps it alive."""

    def __init__(
        self, client: Client, namespace: str, identity: str, policies: Callable[[], int], troubles: Troubles
    ) -> None:
        """Make the Lease's name from `identity`; `policies` counts those in force."""
        self._client, self._policies = client, policies
        self._name = f"cozyguard-replica-{re.sub('[^a-z0-9.-]+', '-', identity.lower()).strip('-.')}"
        self._namespace, self._identity = namespace, identity
        self._leaf = ""
        self._changed = asyncio.Event()
        self._troubles = troubles

    def changed(self) -> None:
        """Write it soon: there are other policies."""
        self._changed.set()

    async def tell(self, leaf: str) -> bool:
        """Say which leaf we serve, or are about to; gives whether it has been written."""
        self._leaf = leaf
        self._changed.set()
        return await self._write()

    async def run(self) -> None:
        """Renew the Lease until cancelled; then take it away."""
        try:
            while True:
                await self._write()
                await wait(self._changed, _RENEW)
        finally:
            with suppress(ApiError, TimeoutError):
                async with asyncio.timeout(2):
                    await self._client.delete(LEASES.path(self._namespace, self._name))

    async def _write(self) -> bool:
        lease: Object = {
            "apiVersion": LEASES.api_version,
            "kind": LEASES.kind,
            "metadata": {
                "name": self._name,
                "namespace": self._namespace,
                "labels": LABELS,
                "annotations": {LEAF: self._leaf, POLICIES: str(self._policies())},
            },
            "spec": {
                "holderIdentity": self._identity,
                "leaseDurationSeconds": _DURATION,
                "renewTime": micro_time(datetime.now(UTC)),
            },
        }
        try:
            await self._client.apply(LEASES.path(self._namespace, self._name), lease)
        except ApiError as error:
            self._troubles.fail(TASK, str(error))
            return False
        self._troubles.clear(TASK)
        return True


def served(leases: Iterable[Object]) -> frozenset[str]:
    """Give the fingerprints of the leaves that replicas serve."""
    told = ((lease["metadata"].get("annotations") or {}).get(LEAF) for lease in leases)
    return frozenset(leaf for leaf in told if leaf)


class Dead:
    """Tells which replicas are long gone, by our own clock: since when has a Lease not been renewed."""

    def __init__(self, after: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Start to watch; a Lease is given `after` seconds from when it is first seen."""
        self._clock, self._after = clock, after
        self._seen: dict[str, tuple[str, float]] = {}

    def among(self, leases: Iterable[Object]) -> list[str]:
        """Name the Leases that were not renewed for too long."""
        now, found = self._clock(), []
        seen: dict[str, tuple[str, float]] = {}
        for lease in leases:
            name, renewed = lease["metadata"]["name"], str((lease.get("spec") or {}).get("renewTime"))
            before = self._seen.get(name)
            seen[name] = before if before and before[0] == renewed else (renewed, now)
            if now - seen[name][1] >= self._after:
                found.append(name)
        self._seen = seen
        return found
