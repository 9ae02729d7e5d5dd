"""The cluster that one process works in: what it watches there, and what it does there for all replicas."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from webhook.cluster.access import Access, Credentials
from webhook.cluster.authorizer import Authorizer
from webhook.cluster.cache import WatchCache
from webhook.cluster.client import Client
from webhook.cluster.credentials import load_here
from webhook.cluster.reflector import Reflector
from webhook.cluster.resources import ADMISSION_POLICIES, POLICY_EXCEPTIONS, SUBJECT_ACCESS_REVIEWS
from webhook.cluster.table import Table
from webhook.cluster.telling import Watching, report, samples
from webhook.cluster.wants import Scope, Wants, wanted
from webhook.controller.certificates import Pair
from webhook.controller.controller import Controller
from webhook.controller.duties import Duties, InForce
from webhook.controller.keyring import NO_PAIR
from webhook.controller.registration import Endpoint
from webhook.controller.secret import as_files
from webhook.controller.status import State, StatusWriter
from webhook.engine.context import Cluster
from webhook.engine.policyset import PolicySet
from webhook.errors import CozyguardError
from webhook.server import tls
from webhook.server.auditing import Auditing
from webhook.server.compiling import elsewhere
from webhook.server.logs import Log
from webhook.server.metrics import Samples
from webhook.server.settings import Settings
from webhook.server.tls import Certificate
from webhook.server.watched import Watched
from webhook.sources import installed
from webhook.sources.installed import Installation, Installed

if TYPE_CHECKING:
    from webhook.server.world import World

_NAMESPACE: Final = "cozyguard"
_NOTICED: Final = 5.0
"""Seconds until a Service sends requests to a process that has become ready: a probe, and what follows from it. What is
registered before that would be refused."""
_PATIENCE: Final = 10.0
"""Seconds that new policies wait for what they look up, before it is tried again."""


class Live:
    """Made by `connect`, then `run` in a task. Other threads may call `installed`, `follow` and `take`."""

    def __init__(self, settings: Settings, log: Log, client: Client, world: Callable[[], World]) -> None:
        """Ask nothing yet; `world` gives the one in force."""
        self._settings, self._log, self._client, self._world = settings, log, client, world
        self._loop = asyncio.get_running_loop()
        self._changes = 0
        self._policies, self._exceptions = Table(), Table()
        self._installed = [
            Watching(
                str(Scope(resource.api_version, resource.kind)),
                Reflector(client, resource, keep=installed.kept, store=store),
                store,
            )
            for resource, store in ((ADMISSION_POLICIES, self._policies), (POLICY_EXCEPTIONS, self._exceptions))
        ]
        self._installation = Installation(partial(elsewhere, installed.read))
        self.cache = WatchCache(client, release_changed=self._note)
        self.authorizer = Authorizer(partial(client.create, SUBJECT_ACCESS_REVIEWS.path()))
        self._status = StatusWriter(client, lambda error: log.error("status not written", error=str(error)))
        self._auditing = Auditing(settings, log) if settings.audit_every else None
        self._told = asyncio.Event()
        self._answering = False
        self._pair = NO_PAIR
        self._certificate: asyncio.Future[Watched[Certificate]] = self._loop.create_future()
        self._controller = Controller(
            client,
            f"{socket.gethostname()}-{os.getpid()}",
            _duties(settings),
            self._in_force,
            log,
            taken=self._serve,
            also=[self._tell_status, *([self._auditing.run] if self._auditing else [])],
        )

    @classmethod
    async def connect(cls, settings: Settings, log: Log, world: Callable[[], World]) -> Live:
        """Read the credentials. Raises UsageError."""
        return cls(settings, log, await Client.connect(_access(settings), _load_elsewhere), world)

    async def run(self) -> None:
        """Watch, and do a replica's part, until cancelled."""
        async with self._client:
            try:
                async with asyncio.TaskGroup() as group:
                    for one in self._installed:
                        group.create_task(one.reflector.run())
                    group.create_task(self._controller.run())
            finally:
                await self.cache.close()

    async def listed(self) -> None:
        """Return when it is known what is installed."""
        for one in self._installed:
            await one.reflector.answered.wait()

    async def certificate(self) -> Watched[Certificate]:
        """Give the certificate from the Secret, as soon as there is one."""
        return await self._certificate

    def start_leading(self) -> None:
        """Register from now on, if this process leads: reviews are answered."""
        self._loop.call_later(_NOTICED, self._answer)

    @property
    def seen(self) -> object:
        """Differs when anything has changed that decisions are made with, but for what policies look up."""
        objects = (*self._policies.list(), *self._exceptions.list())
        return self._changes, frozenset(map(installed.version, objects))

    def installed(self) -> Installed:
        """Read the policies and exceptions that are installed; only what has changed is compiled."""
        return self._installation.load(self._policies.list(), self._exceptions.list())

    def follow(self, policies: PolicySet) -> Cluster:
        """Follow what these policies look up, besides what is followed. Raises CozyguardError if that takes long."""
        following = asyncio.run_coroutine_threadsafe(self.cache.follow(wanted(policies)), self._loop)
        try:
            following.result(_PATIENCE)
        except TimeoutError:
            following.cancel()
            self._note()
            raise CozyguardError("the API server does not answer for what policies look up") from None
        return self.cache

    def take(self, world: World) -> None:
        """Work with a world that has come into force."""
        self._loop.call_soon_threadsafe(self._take, wanted(world.policies))

    def serves(self, certificate: Certificate) -> None:
        """Tell the other replicas which certificate from files is served."""
        asyncio.run_coroutine_threadsafe(self._controller.serves(certificate.leaf), self._loop)

    def report(self) -> dict[str, Any]:
        """Tell people what is watched."""
        return {"synced": self.cache.synced, "from": "cluster", "watched": report(self._watching)}

    def samples(self) -> Samples:
        """Tell Prometheus the numbers."""
        found = self._world().installed
        invalid = [
            [installed.POLICY, sum(bool(one.faults) for one in found.policies)],
            [installed.EXCEPTION, sum(bool(one.faults) for one in found.exceptions)],
        ]
        audits = self._auditing.samples() if self._auditing else {}
        return samples(self._watching) | self._controller.samples() | audits | {"cozyguard_invalid_objects": invalid}

    @property
    def _watching(self) -> tuple[Watching, ...]:
        return (*self._installed, *self.cache.watching)

    def _take(self, wants: Wants) -> None:
        self.cache.trim(wants)
        self._controller.changed()
        self._told.set()

    def _answer(self) -> None:
        self._answering = True
        self._controller.changed()

    def _note(self) -> None:
        self._changes += 1

    def _serve(self, pair: Pair) -> None:
        """Serve a pair from the Secret from the next handshake on."""
        self._pair = pair
        if self._certificate.done():
            self._certificate.result().look()
        else:
            watched = Watched("certificate", lambda _: self._load_pair(), lambda _: (), self._log, lambda: self._pair)
            self._certificate.set_result(watched)

    def _load_pair(self) -> Certificate:
        with as_files(self._pair) as (certificate, key):
            return tls.load(certificate, key)

    def _in_force(self) -> InForce | None:
        """Tell the leader what to register: nothing before requests reach this process, with all that is installed."""
        if not self._answering:
            return None
        world = self._world()
        return InForce(tuple(one.policy for one in world.policies.policies), world.release.version, world.configuration)

    async def _tell_status(self) -> None:
        def state() -> State:
            world, objects = self._world(), (*self._policies.list(), *self._exceptions.list())
            return State(world.installed, world.files.policies, objects)

        await self._status.run(state, self._told)


def _access(settings: Settings) -> Access:
    return Access(settings.kubeconfig, settings.context)


async def _load_elsewhere(access: Access) -> Credentials:
    """Read credentials in a process that ends with it: the library for it would stay here for good, 20 MiB of it."""
    return await asyncio.to_thread(elsewhere, load_here, access)


def _duties(settings: Settings) -> Duties:
    """Say what the leader has to keep."""
    endpoint = Endpoint(
        namespace=settings.namespace or _access(settings).namespace() or _NAMESPACE,
        name=settings.register,
        service=settings.service,
        port=settings.service_port,
        url=settings.webhook_url,
        timeout=settings.webhook_timeout,
        break_glass_group=settings.break_glass_group,
    )
    bundle = settings.ca_bundle.read_bytes if settings.ca_bundle else None
    return Duties(endpoint=endpoint, secret=settings.tls_secret, bundle=bundle, inject_from=settings.inject_ca_from)
