"""What the leader keeps in step, for all replicas: the certificates, the registration, the list of replicas."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any, Final

from webhook.cluster.client import Client
from webhook.cluster.faults import ApiError
from webhook.cluster.resources import LEASES, MUTATING_WEBHOOKS, SECRETS, VALIDATING_WEBHOOKS, Resource
from webhook.controller.certificates import together
from webhook.controller.follow import Followed, wait
from webhook.controller.keyring import Keyring
from webhook.controller.registrar import Registrar
from webhook.controller.registration import MUTATE, VALIDATE, Endpoint, webhooks
from webhook.controller.replicas import SELECTOR, Dead, served
from webhook.controller.rotation import Seen, Step, advance, bundle, carries, plan
from webhook.controller.rules import Entry, registration
from webhook.controller.say import Samples, Troubles
from webhook.model.configuration import Configuration
from webhook.model.policy import Policy
from webhook.model.release import Minor
from webhook.model.request import Object

_SELF_REVIEWS: Final = Resource(
    "authentication.k8s.io", "v1", "selfsubjectreviews", "SelfSubjectReview", namespaced=False
)
_CONDITION: Final = re.compile(r"webhooks\[(\d+)\]\.matchConditions\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class InForce:
    """What the registration is worked out from."""

    policies: tuple[Policy, ...]
    release: Minor
    configuration: Configuration


@dataclass(frozen=True, slots=True, kw_only=True)
class Duties:
    """What there is to keep. One of three says whom API servers are to trust.

    `secret` is the name of the Secret in which we keep certificates of our own, `bundle` gives the CAs of certificates
    from files (PEM), and `inject_from` names the Certificate (`namespace/name`) from which cert-manager fills them in.
    """

    endpoint: Endpoint
    secret: str = ""
    bundle: Callable[[], bytes] | None = None
    inject_from: str = ""
    settle: float = 30.0
    """Seconds that API servers have to learn of a new CA before anything is served that needs it."""
    dead: float = 600.0
    """Seconds without a word after which a replica is gone for good. One that only lost its way to the API server may
    serve on, and so long no CA is taken away that its certificate needs."""
    look: float = 5.0
    """Seconds after which it is looked again, whatever the watches say; what failed is tried again then."""


class Leader:
    """Works while `lead` runs; everything it writes, another one may have written before."""

    def __init__(
        self,
        client: Client,
        duties: Duties,
        in_force: Callable[[], InForce],
        troubles: Troubles,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Ask nothing yet."""
        self._client, self._duties, self._in_force = client, duties, in_force
        self._troubles, self._now = troubles, now
        self._wake = asyncio.Event()
        namespace, name, wake = duties.endpoint.namespace, duties.endpoint.name, self._wake.set
        self._secret = Followed(client, SECRETS, wake, namespace=namespace, name=duties.secret)
        self._replicas = Followed(client, LEASES, wake, namespace=namespace, labels=SELECTOR)
        self._registrars = {
            VALIDATE: Registrar(client, VALIDATING_WEBHOOKS, name, wake, troubles.log),
            MUTATE: Registrar(client, MUTATING_WEBHOOKS, name, wake, troubles.log),
        }
        self._dead = Dead(duties.dead)
        self._user = ""
        self._carried: tuple[bytes, float] | None = None
        self._refused: frozenset[str] = frozenset()
        self._step = Step.REST

    def changed(self) -> None:
        """Look now: other policies are in force."""
        self._wake.set()

    async def lead(self) -> None:
        """Keep everything in step until cancelled."""
        self._carried = None
        for registrar in self._registrars.values():
            registrar.forget()
        async with asyncio.TaskGroup() as group:
            followed = (*self._registrars.values(), self._replicas, *((self._secret,) if self._duties.secret else ()))
            for one in followed:
                group.create_task(one.run())
            group.create_task(self._keep_in_step())

    def samples(self) -> Samples:
        """Give the numbers of what the leader keeps."""
        kinds = self._registrars.items()
        return {
            "cozyguard_registration_in_sync": [[kind, int(one.in_sync)] for kind, one in kinds],
            "cozyguard_certificate_rotation": [[str(step), int(step is self._step)] for step in Step],
        }

    def repairs(self) -> Samples:
        """Give the numbers that stay when another one leads."""
        kinds = self._registrars.items()
        return {"cozyguard_registration_repairs_total": [[kind, one.repairs] for kind, one in kinds]}

    async def _keep_in_step(self) -> None:
        tasks: tuple[tuple[str, Callable[[], Awaitable[None]]], ...] = (
            ("certificates", self._keep_certificates),
            ("registration", self._keep_registration),
            ("replicas", self._clear_away),
        )
        while True:
            await wait(self._wake, self._duties.look)
            for name, task in tasks:
                await self._attempt(name, task)

    async def _attempt(self, name: str, task: Callable[[], Awaitable[None]]) -> None:
        try:
            await task()
        except ApiError as error:
            if not error.is_conflict:  # a conflict is somebody else's change: a watch is about to tell of it
                self._troubles.fail(name, str(error))
        except _NotYet as reason:
            self._troubles.fail(name, str(reason))
        except Exception as error:  # noqa: BLE001 - one task that breaks must not keep the others from being done
            self._troubles.fail(name, f"{type(error).__name__}: {error}")
        else:
            self._troubles.clear(name)

    async def _keep_certificates(self) -> None:
        if not self._duties.secret:
            return
        self._need(self._secret, f"secret `{self._duties.secret}`")
        self._need(self._replicas, "the leases of the replicas")
        secret = self._secret.objects.get(self._duties.secret)
        kept = Keyring.of(secret)
        seen = self._seen(kept)
        self._step = plan(kept, seen)
        if self._step in (Step.WAIT, Step.REST):
            return
        fault = kept.fault(seen.hosts, seen.now)
        new = advance(kept, self._step, seen)
        self._secret.put(await self._store(secret, new))
        self._troubles.log.info("certificates", step=str(self._step), **({"because": str(fault)} if fault else {}))

    async def _store(self, secret: Object | None, new: Keyring) -> Object:
        namespace = self._duties.endpoint.namespace
        obj = new.onto(secret, namespace, self._duties.secret)
        if secret is None:
            return await self._client.create(SECRETS.path(namespace), obj)
        return await self._client.replace(SECRETS.path(namespace, self._duties.secret), obj)

    def _seen(self, kept: Keyring) -> Seen:
        for registrar in self._registrars.values():
            self._need(registrar, f"{registrar.kind} `{registrar.name}`")
        bundles = [one for registrar in self._registrars.values() for one in registrar.bundles()]
        now, moment = self._now(), time.monotonic()
        if not all(carries(one, kept) for one in bundles):
            self._carried = None
        elif self._carried is None or self._carried[0] != kept.trusted:
            self._carried = (kept.trusted, moment)
        return Seen(
            hosts=self._duties.endpoint.hosts,
            now=now,
            served=served(self._replicas.objects.values()),
            live=together(bundles, now),
            carried=None if self._carried is None else timedelta(seconds=moment - self._carried[1]),
            settle=timedelta(seconds=self._duties.settle),
        )

    async def _keep_registration(self) -> None:
        self._need(self._replicas, "the leases of the replicas")
        trusted = self._bundle()
        if not self._user:
            review = {"apiVersion": _SELF_REVIEWS.api_version, "kind": _SELF_REVIEWS.kind}
            self._user = (await self._client.create(_SELF_REVIEWS.path(), review))["status"]["userInfo"]["username"]
        missing = []
        for path, registrar in self._registrars.items():
            self._need(registrar, f"{registrar.kind} `{registrar.name}`")
            if registrar.live is None:
                missing.append(registrar.kind)
            elif not registrar.registered and not served(self._replicas.objects.values()):
                raise _NotYet("no replica serves a certificate yet: nothing is registered before one does")
            await self._register(path, registrar, trusted)
        if missing:
            name = self._duties.endpoint.name
            raise _NotYet(f"there is no {' and no '.join(missing)} `{name}`: nothing is registered there; make it anew")

    def _bundle(self) -> bytes | None:
        if self._duties.secret:
            self._need(self._secret, f"secret `{self._duties.secret}`")
            kept = Keyring.of(self._secret.objects.get(self._duties.secret))
            if trusted := bundle(kept, self._seen(kept)):
                return trusted
            raise _NotYet(f"secret `{self._duties.secret}` names no certificate authority yet")
        return self._duties.bundle() if self._duties.bundle else None

    async def _register(self, path: str, registrar: Registrar, trusted: bytes | None) -> None:
        """Write a configuration; what the API server does not compile is left out, and tried no more."""
        while True:
            current = self._in_force()
            made = registration(
                current.policies, current.release, current.configuration, self._now(), refused=self._refused
            )
            entries = made.validating if path == VALIDATE else made.mutating
            hooks = webhooks(path, entries, self._duties.endpoint, current.configuration.exempt, self._user)
            try:
                await registrar.keep(hooks, trusted, self._duties.inject_from)
            except ApiError as error:
                guards = _refused(error, entries, hooks)
                if not guards:
                    raise
                self._refused |= guards
                self._troubles.log.warning(
                    "the API server cannot test a match condition: all requests of its kind are sent", error=str(error)
                )
            else:
                return

    async def _clear_away(self) -> None:
        """Delete the Leases of replicas that are long gone."""
        for name in self._dead.among(self._replicas.objects.values()):
            await self._client.delete(LEASES.path(self._duties.endpoint.namespace, name))
            self._troubles.log.info("lease of a dead replica deleted", name=name)

    def _need(self, followed: Followed | Registrar, what: str) -> None:
        if not followed.known:
            raise _NotYet(f"{what} cannot be read yet{f': {followed.trouble}' if followed.trouble else ''}")


class _NotYet(Exception):
    """Something has to be there first."""


def _refused(error: ApiError, entries: tuple[Entry, ...], hooks: list[Object]) -> frozenset[str]:
    """Give the guards in a condition that the API server names in its refusal: the fewest, as others may be good."""
    if error.status != HTTPStatus.UNPROCESSABLE_ENTITY:
        return frozenset()
    return min(filter(None, _guards(error.details, entries, hooks)), key=len, default=frozenset())


def _guards(details: dict[str, Any], entries: tuple[Entry, ...], hooks: list[Object]) -> Iterator[frozenset[str]]:
    for cause in details.get("causes") or ():
        if found := _CONDITION.match(str(cause.get("field"))):
            hook, condition = map(int, found.groups())
            name = hooks[hook]["matchConditions"][condition]["name"]
            yield from (one.guards for one in entries[hook].conditions if one.name == name)
