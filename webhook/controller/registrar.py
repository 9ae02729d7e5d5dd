"""Keeps the `webhooks` of one webhook configuration: written when they should be others, or somebody has changed them.

The configuration itself is never made nor deleted here: where there is none, nothing is registered.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from webhook.cluster.client import Client
from webhook.cluster.resources import Resource
from webhook.controller.follow import Followed
from webhook.controller.registration import with_bundle
from webhook.controller.troubles import Log
from webhook.model.request import Object

INJECT: Final = "cert-manager.io/inject-ca-from"
"""Annotation by which cert-manager is asked to fill in each caBundle."""


@dataclass(frozen=True, slots=True)
class _Written:
    """What was written last, and what the API server has made of it, such as fields of a newer version."""

    wanted: list[Object]
    stored: list[Object]


class Registrar:
    """One webhook configuration; `in_sync` says whether it is as it should be, as far as anybody has looked."""

    def __init__(
        self,
        client: Client,
        resource: Resource,
        name: str,
        wake: Callable[[], None],
        log: Log,
        repaired: Callable[[], None],
    ) -> None:
        """Follow the configuration `name`. `wake` is called when it changes, `repaired` when a change was undone."""
        self._client, self._log, self._repaired = client, log, repaired
        self._path = resource.path(name=name)
        self._followed = Followed(client, resource, wake, name=name)
        self._written: _Written | None = None
        self._name, self._kind = name, resource.kind
        self.title = f"{resource.kind} `{name}`"
        self.run = self._followed.run
        self.in_sync = False

    @property
    def known(self) -> bool:
        """Has it been read, or is it known to be absent."""
        return self._followed.known

    @property
    def trouble(self) -> str:
        """What keeps it from being read."""
        return self._followed.trouble

    @property
    def live(self) -> Object | None:
        """The configuration as it is, None where there is none."""
        return self._followed.objects.get(self._name)

    @property
    def registered(self) -> bool:
        """Has it any webhooks."""
        return bool((self.live or {}).get("webhooks"))

    def bundles(self) -> list[bytes]:
        """Give what each webhook has for caBundle, PEM."""
        return [_bundle(hook) for hook in (self.live or {}).get("webhooks") or ()]

    async def keep(self, hooks: list[Object], bundle: bytes | None, inject_from: str = "") -> None:
        """Write these webhooks if others are there. Raises ApiError.

        Without a bundle cert-manager fills it in, from the Certificate `inject_from` (`namespace/name`).
        """
        live = self.live
        self.in_sync = False
        if live is None:
            return
        wanted = _as_injected(hooks, live) if bundle is None else with_bundle(hooks, bundle)
        injects = bundle is None
        before, there = self._written, live.get("webhooks") or []
        asked = before is not None and _same(before.wanted, wanted, injects)
        if before and asked and _same(before.stored, there, injects) and _inject_from(live) == inject_from:
            self.in_sync = True
            return
        metadata = {
            "resourceVersion": live["metadata"]["resourceVersion"],
            "annotations": {INJECT: inject_from or None},
        }
        stored = await self._client.merge_patch(self._path, {"metadata": metadata, "webhooks": wanted})
        self._written = _Written(wanted, stored.get("webhooks") or [])
        self.in_sync = True
        if stored["metadata"]["resourceVersion"] != live["metadata"]["resourceVersion"]:
            if asked:
                self._repaired()
                self._log.warning("registration repaired", kind=self._kind, name=self._name)
            else:
                self._log.info("registration written", kind=self._kind, name=self._name)
        self._followed.put(stored)


def _as_injected(hooks: Iterable[Object], live: Object) -> list[Object]:
    """Keep what cert-manager has filled in. Until it has, no request is refused for the lack of it."""
    bundle = next(filter(None, map(_bundle, live.get("webhooks") or ())), b"")
    if bundle:
        return with_bundle(hooks, bundle)
    return [hook | {"failurePolicy": "Ignore"} for hook in hooks]


def _same(one: Iterable[Object], other: Iterable[Object], injects: bool) -> bool:
    """Are webhooks the same, but for what cert-manager fills in."""
    if not injects:
        return one == other
    return list(map(_without_bundle, one)) == list(map(_without_bundle, other))


def _without_bundle(hook: Object) -> Object:
    return hook | {"clientConfig": {**(hook.get("clientConfig") or {}), "caBundle": ""}}


def _bundle(hook: Object) -> bytes:
    try:
        return base64.b64decode((hook.get("clientConfig") or {}).get("caBundle") or "")
    except binascii.Error:
        return b""


def _inject_from(live: Object) -> str:
    return str((live["metadata"].get("annotations") or {}).get(INJECT) or "")
