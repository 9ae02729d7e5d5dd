"""Leader election by a Lease, as client-go does it: one replica at a time has it, and renews it while it lives.

No clock of another machine is believed: a Lease has run out when it was not seen to change for as long as it says.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from webhook.cluster.client import Client
from webhook.cluster.faults import ApiError
from webhook.cluster.resources import LEASES
from webhook.controller.troubles import Troubles
from webhook.model.request import Object

TASK: Final = "leader-election"


@dataclass(frozen=True, slots=True)
class Terms:
    """Seconds: how long a Lease lasts, how long its holder tries to renew it before giving up, and how often.

    Giving up comes before another one may take over, so there are never two leaders.
    """

    duration: float = 15.0
    deadline: float = 10.0
    retry: float = 2.0


def micro_time(moment: datetime) -> str:
    """Write a `MicroTime`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class Election:
    """A candidate. `run` works while it leads, and stands again when it has lost."""

    def __init__(
        self, client: Client, namespace: str, name: str, identity: str, terms: Terms, troubles: Troubles
    ) -> None:
        """Stand for the Lease `name`, as `identity`, which no other candidate has."""
        self._client, self._terms, self._troubles = client, terms, troubles
        self._collection = LEASES.path(namespace)
        self._path = LEASES.path(namespace, name)
        self._name, self._namespace, self._identity = name, namespace, identity
        self._lease: Object | None = None
        self._seen_at = 0.0
        self.leading = False

    async def run(self, work: Callable[[], Awaitable[None]]) -> None:
        """Lead whenever possible, until cancelled; the Lease is then given back, so that the next one need not wait."""
        while True:
            await self._acquire()
            self._troubles.log.info("leading", identity=self._identity)
            self.leading = True
            working = asyncio.ensure_future(work())
            try:
                await self._keep(working)
            finally:
                self.leading = False
                working.cancel()
                with suppress(asyncio.CancelledError):
                    await working
                await self._release()
            self._troubles.log.warning("no longer leading: the lease could not be renewed", identity=self._identity)

    async def _acquire(self) -> None:
        while not await self._attempt(self._terms.retry * 5):
            await asyncio.sleep(self._terms.retry)

    async def _keep(self, working: asyncio.Future[None]) -> None:
        """Renew until that has failed for too long. Raises what the work raises."""
        renewed = time.monotonic()
        while (left := renewed + self._terms.deadline - time.monotonic()) > 0:
            began = time.monotonic()
            if await self._attempt(left):
                renewed = began
            await asyncio.wait([working], timeout=self._terms.retry)
            if working.done():
                working.result()
                return

    async def _attempt(self, patience: float) -> bool:
        """Try to get the Lease, or to renew it, within so many seconds."""
        try:
            async with asyncio.timeout(patience):
                held = await self._take()
        except TimeoutError:
            self._troubles.fail(TASK, f"no answer within {patience:.0f} s")
        except ApiError as error:
            if error.is_conflict or error.is_not_found:  # somebody was quicker, or has deleted it: look again
                self._lease = None
            else:
                self._troubles.fail(TASK, str(error))
        else:
            self._troubles.clear(TASK)
            return held
        return False

    async def _take(self) -> bool:
        if not (self.leading and self._lease):
            await self._look()
        if self._lease is None:
            metadata = {"name": self._name, "namespace": self._namespace}
            lease: Object = {"apiVersion": LEASES.api_version, "kind": LEASES.kind, "metadata": metadata}
            self._see(await self._client.create(self._collection, lease | {"spec": self._spec({})}))
            return True
        if not (self._is_mine(self._lease) or self._has_run_out(self._lease)):
            return False
        changed = self._lease | {"spec": self._spec(self._lease.get("spec") or {})}
        self._see(await self._client.replace(self._path, changed))
        return True

    async def _look(self) -> None:
        """Read the Lease; when it has changed, its time begins anew."""
        try:
            lease = await self._client.get(self._path)
        except ApiError as error:
            if not error.is_not_found:
                raise
            self._lease = None
            return
        if self._lease is None or lease["metadata"]["resourceVersion"] != self._lease["metadata"]["resourceVersion"]:
            self._see(lease)

    def _see(self, lease: Object) -> None:
        self._lease, self._seen_at = lease, time.monotonic()

    def _is_mine(self, lease: Object) -> bool:
        return bool((lease.get("spec") or {}).get("holderIdentity") == self._identity)

    def _has_run_out(self, lease: Object) -> bool:
        spec = lease.get("spec") or {}
        lasts = spec.get("leaseDurationSeconds") or 0
        return not spec.get("holderIdentity") or time.monotonic() - self._seen_at >= lasts

    def _spec(self, before: Object) -> Object:
        now = micro_time(datetime.now(UTC))
        mine = before.get("holderIdentity") == self._identity
        return before | {
            "holderIdentity": self._identity,
            "leaseDurationSeconds": max(1, round(self._terms.duration)),
            "acquireTime": before.get("acquireTime", now) if mine else now,
            "renewTime": now,
            "leaseTransitions": (before.get("leaseTransitions") or 0) + (0 if mine else 1),
        }

    async def _release(self) -> None:
        """Give the Lease back, if it is still ours; if that fails it runs out."""
        if self._lease is None or not self._is_mine(self._lease):
            return
        given_back = self._spec(self._lease["spec"]) | {"holderIdentity": "", "leaseDurationSeconds": 1}
        with suppress(ApiError, TimeoutError):
            async with asyncio.timeout(self._terms.retry):
                await self._client.replace(self._path, self._lease | {"spec": given_back})
        self._lease = None
