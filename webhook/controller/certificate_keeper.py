"""Carries out the rotation: looks around, works out the next step, writes the Secret."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from webhook.cluster.client import Client
from webhook.cluster.resources import SECRETS
from webhook.controller.certificates import together
from webhook.controller.duties import Duties, NotYet, need
from webhook.controller.follow import Followed
from webhook.controller.keyring import Keyring
from webhook.controller.registrar import Registrar
from webhook.controller.replicas import served
from webhook.controller.rotation import Seen, Step, advance, bundle, carries, plan
from webhook.controller.troubles import Log
from webhook.model.request import Object


class CertificateKeeper:
    """Keeps the Secret with our own certificates. `step` is what was next when it looked last."""

    def __init__(
        self,
        client: Client,
        duties: Duties,
        replicas: Followed,
        registrars: Sequence[Registrar],
        wake: Callable[[], None],
        log: Log,
        now: Callable[[], datetime],
    ) -> None:
        """`wake` is called when the Secret changes."""
        self._client, self._duties, self._log, self._now = client, duties, log, now
        self._replicas, self._registrars = replicas, registrars
        self._path = SECRETS.path(duties.endpoint.namespace, duties.secret)
        self._secret = Followed(client, SECRETS, wake, namespace=duties.endpoint.namespace, name=duties.secret)
        self._carried: tuple[bytes, float] | None = None
        self.run = self._secret.run
        self.step = Step.REST

    async def keep(self) -> None:
        """Do what is next. Raises ApiError and NotYet."""
        secret, kept = self._read()
        seen = self._seen(kept)
        self.step = plan(kept, seen)
        if self.step in (Step.WAIT, Step.REST):
            return
        fault = kept.fault(seen.hosts, seen.now)
        self._secret.put(await self._write(secret, advance(kept, self.step, seen)))
        self._log.info("certificates", step=str(self.step), **({"because": str(fault)} if fault else {}))

    def trusted(self) -> bytes:
        """Give what the webhook configurations are to carry, PEM. Raises NotYet."""
        _, kept = self._read()
        if bundle_ := bundle(kept, self._seen(kept)):
            return bundle_
        raise NotYet(f"secret `{self._duties.secret}` names no certificate authority yet")

    def _read(self) -> tuple[Object | None, Keyring]:
        need(self._secret, f"secret `{self._duties.secret}`")
        secret = self._secret.objects.get(self._duties.secret)
        return secret, Keyring.of(secret)

    async def _write(self, secret: Object | None, new: Keyring) -> Object:
        namespace = self._duties.endpoint.namespace
        obj = new.onto(secret, namespace, self._duties.secret)
        if secret is None:
            return await self._client.create(SECRETS.path(namespace), obj)
        return await self._client.replace(self._path, obj)

    def _seen(self, kept: Keyring) -> Seen:
        need(self._replicas, "the leases of the replicas")
        for registrar in self._registrars:
            need(registrar, registrar.title)
        bundles = [one for registrar in self._registrars for one in registrar.bundles()]
        now = self._now()
        return Seen(
            hosts=self._duties.endpoint.hosts,
            now=now,
            served=served(self._replicas.objects.values()),
            live=together(bundles, now),
            carried=self._carried_for(kept, bundles),
            settle=timedelta(seconds=self._duties.settle),
        )

    def _carried_for(self, kept: Keyring, bundles: Sequence[bytes]) -> timedelta | None:
        """Keep time of how long every bundle has had all CAs of the Secret; a new leader begins anew."""
        now = time.monotonic()
        if not all(carries(one, kept) for one in bundles):
            self._carried = None
        elif self._carried is None or self._carried[0] != kept.trusted:
            self._carried = (kept.trusted, now)
        return None if self._carried is None else timedelta(seconds=now - self._carried[1])
