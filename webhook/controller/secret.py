"""The certificate that this replica serves, from the Secret that the leader keeps; the last good one stays."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from webhook.cluster.client import Client
from webhook.cluster.resources import SECRETS
from webhook.controller.certificates import Fault, Pair, fingerprint
from webhook.controller.follow import Followed, wait
from webhook.controller.keyring import Keyring
from webhook.controller.troubles import Troubles

TASK: Final = "certificate"

_LOOK: Final = 60.0
"""Seconds after which it is looked again in any case: a pair becomes valid, or expires, by the clock alone."""

_START: Final = 2.0
"""Seconds after which it is told that the Secret cannot be read."""

Announce = Callable[[str], Awaitable[bool]]


class CertificateSource:
    """`pair` is what to serve, None before the first; `run` keeps it current, `taken` is called with each new one.

    The leader takes no CA away that a replica has announced to need, so the first pair is announced before it is
    served, and a later one after that.
    """

    def __init__(
        self,
        client: Client,
        namespace: str,
        name: str,
        hosts: tuple[str, ...],
        troubles: Troubles,
        *,
        announce: Announce,
        taken: Callable[[Pair], None],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Follow the Secret `name`; `hosts` are the names that a certificate needs."""
        self._hosts, self._troubles, self._announce, self._taken, self._now = hosts, troubles, announce, taken, now
        self._name = name
        self._changed = asyncio.Event()
        self._followed = Followed(client, SECRETS, self._changed.set, namespace=namespace, name=name)
        self.pair: Pair | None = None

    async def run(self) -> None:
        """Follow the Secret until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._followed.run())
            group.create_task(self._take_each())

    async def _take_each(self) -> None:
        while True:
            await wait(self._changed, _LOOK if self._followed.known else _START)
            if self._followed.known:
                await self._look()
            else:
                self._troubles.fail(TASK, self._followed.trouble or f"secret `{self._name}` has not been read yet")

    async def _look(self) -> None:
        kept = Keyring.of(self._followed.objects.get(self._name))
        fault = kept.fault(self._hosts, self._now())
        if fault is Fault.MISSING and self.pair is None:
            return  # before the leader has made the first one
        if fault:
            what = "the last good one is served on" if self.pair else "none is served yet"
            self._troubles.fail(TASK, f"secret `{self._name}`: {fault}; {what}, and the leader makes another one")
            return
        self._troubles.clear(TASK)
        if kept.pair != self.pair:
            await self._take(kept.pair)

    async def _take(self, pair: Pair) -> None:
        leaf = fingerprint(pair.certificate)
        while self.pair is None and not await self._announce(leaf):
            await asyncio.sleep(1)
        first, self.pair = self.pair is None, pair
        self._taken(pair)
        self._troubles.log.info("certificate taken", leaf=leaf)
        if not first:
            await self._announce(leaf)


@contextmanager
def as_files(pair: Pair) -> Iterator[tuple[Path, Path]]:
    """Give certificate and key as files for as long as OpenSSL reads them: it takes nothing else.

    On Linux they exist in memory alone, and in no folder, so that no file system has to be writable.
    """
    parts = (pair.certificate, pair.key)
    if hasattr(os, "memfd_create"):
        files = [os.memfd_create("tls", os.MFD_CLOEXEC) for _ in parts]
        try:
            for file, part in zip(files, parts, strict=True):
                os.write(file, part)
            certificate, key = (Path(f"/proc/self/fd/{file}") for file in files)
            yield certificate, key
        finally:
            for file in files:
                os.close(file)
        return
    with tempfile.TemporaryDirectory() as folder:  # only its owner may look into it
        certificate, key = Path(folder, "tls.crt"), Path(folder, "tls.key")
        certificate.write_bytes(pair.certificate)
        key.write_bytes(pair.key)
        yield certificate, key
