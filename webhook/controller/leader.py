"""What the leader keeps in step, for all replicas: the certificates, the registration, the list of replicas."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial

from webhook.cluster.client import Client
from webhook.cluster.faults import ApiError
from webhook.cluster.resources import LEASES, MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS
from webhook.controller.certificate_keeper import CertificateKeeper
from webhook.controller.duties import Duties, InForce, NotYet
from webhook.controller.follow import Followed, wait
from webhook.controller.registrar import Registrar
from webhook.controller.registration import MUTATE, VALIDATE
from webhook.controller.registration_keeper import RegistrationKeeper
from webhook.controller.replicas import SELECTOR, Dead
from webhook.controller.rotation import Step
from webhook.controller.troubles import Samples, Troubles


class Leader:
    """One term of a leader. The next one begins anew: what this one knows, others may have changed by then."""

    def __init__(
        self,
        client: Client,
        duties: Duties,
        in_force: Callable[[], InForce | None],
        troubles: Troubles,
        repairs: Counter[str],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Ask nothing yet. `repairs` counts changes of other people that were undone, by `validate` and `mutate`."""
        self._client, self._duties, self._troubles = client, duties, troubles
        self._wake = asyncio.Event()
        self._waiting: dict[str, float] = {}
        namespace, name, wake, log = duties.endpoint.namespace, duties.endpoint.name, self._wake.set, troubles.log
        self._replicas = Followed(client, LEASES, wake, namespace=namespace, labels=SELECTOR)
        self._dead = Dead(duties.dead)
        self._registrars = {
            path: Registrar(client, resource, name, wake, log, partial(repairs.update, [path]))
            for path, resource in ((VALIDATE, VALIDATING_WEBHOOKS), (MUTATE, MUTATING_WEBHOOKS))
            if name
        }
        self._registration = RegistrationKeeper(client, duties, in_force, self._registrars, log, now)
        self._certificates: CertificateKeeper | None = None
        if duties.secret:
            registrars = tuple(self._registrars.values())
            self._certificates = CertificateKeeper(client, duties, self._replicas, registrars, wake, log, now)

    async def run(self) -> None:
        """Keep everything in step until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._replicas.run())
            for registrar in self._registrars.values():
                group.create_task(registrar.run())
            if self._certificates:
                group.create_task(self._certificates.run())
            group.create_task(self._keep_in_step())

    def changed(self) -> None:
        """Look now: other policies are in force."""
        self._wake.set()

    def samples(self) -> Samples:
        """Give the numbers of what the leader keeps."""
        made: Samples = {
            "cozyguard_registration_in_sync": [[path, int(one.in_sync)] for path, one in self._registrars.items()]
        }
        if self._certificates:
            step = self._certificates.step
            made["cozyguard_certificate_rotation"] = [[str(one), int(one is step)] for one in Step]
        return made

    async def _keep_in_step(self) -> None:
        while True:
            await wait(self._wake, self._duties.look)
            if self._certificates:
                await self._attempt("certificates", self._certificates.keep)
            await self._attempt("registration", self._register)
            await self._attempt("replicas", self._clear_away)

    async def _attempt(self, name: str, task: Callable[[], Awaitable[None]]) -> None:
        try:
            await task()
        except ApiError as error:
            if not error.is_conflict:  # a conflict is somebody else's change: a watch is about to tell of it
                self._troubles.fail(name, str(error))
        except NotYet as reason:
            since = self._waiting.setdefault(name, time.monotonic())
            if time.monotonic() - since >= self._duties.look:  # before that, it is how everything begins
                self._troubles.fail(name, str(reason))
        except Exception as error:  # noqa: BLE001 - one task that breaks must not keep the others from being done
            self._troubles.fail(name, f"{type(error).__name__}: {error}")
        else:
            self._waiting.pop(name, None)
            self._troubles.clear(name)

    async def _register(self) -> None:
        given = self._duties.bundle
        await self._registration.keep(self._certificates.trusted() if self._certificates else given and given())

    async def _clear_away(self) -> None:
        """Delete the Leases of replicas that are long gone."""
        for name in self._dead.among(self._replicas.objects.values()):
            await self._client.delete(LEASES.path(self._duties.endpoint.namespace, name))
            self._troubles.log.info("lease of a dead replica deleted", name=name)
