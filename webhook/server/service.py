"""One process that answers reviews: its files, its port, its graceful end."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from typing import Any, Final

from aiohttp import web

from webhook.server import tls, world
from webhook.server.handler import Handler
from webhook.server.logs import Log
from webhook.server.metrics import Metrics, Samples
from webhook.server.settings import Settings
from webhook.server.signals import Stop
from webhook.server.watched import Watched, settle

KEEP_ALIVE: Final = 180.0
"""Seconds an idle connection stays open. The API server keeps its own for 90: if we were the first to
close, we would now and then do so just when it sends a review, and that review would fail."""

FINISH: Final = 15.0
"""Seconds that requests under way have, once the port is closed."""

HANDSHAKE: Final = 10.0
"""Seconds a client has for its TLS handshake."""


class Service:
    """The webhook in one process. Make it, `start` it on a socket, `serve_until` it shall stop."""

    def __init__(self, settings: Settings, log: Log) -> None:
        """Read all files. Raises UsageError and DocumentErrors, which say what is wrong with them."""
        self._settings, self._log = settings, log
        self.metrics = Metrics()
        self._certificate = Watched(
            "certificate",
            lambda: tls.load(settings.tls_cert, settings.tls_key),
            lambda _: (settings.tls_cert, settings.tls_key),
            log,
        )
        self._state = Watched(
            "state", lambda: world.load(settings, log), lambda current: world.files(settings, current), log
        )
        self._handler = Handler(self._state, self.metrics, log)
        self._watchers: list[asyncio.Task[None]] = []
        self._stopping = False

    async def start(self, sock: socket.socket) -> None:
        """Answer on this socket, which is bound already."""
        # The low-level server: no router, no middleware, no access log, none of which a review needs.
        self._web = web.Server(self._handler, access_log=None, keepalive_timeout=KEEP_ALIVE, auto_decompress=False)
        self._server = await asyncio.get_running_loop().create_server(
            self._web,
            sock=sock,
            backlog=1024,
            ssl=tls.serving(lambda: self._certificate.current),
            ssl_handshake_timeout=HANDSHAKE,
        )
        settle()
        self._watchers = [asyncio.create_task(one.watch()) for one in (self._certificate, self._state)]

    async def serve_until(self, stop: Stop) -> None:
        """Serve; when asked to stop, turn clients away, then close the port, and finish what has begun."""
        await stop.wait()
        self._log.info("stopping")
        self._stopping = self._handler.stopping = True
        await stop.drain(self._settings.drain_seconds)
        self._server.close()
        # Connections are left alone until then: aiohttp would drop the rest of a body that is still on its way.
        with suppress(TimeoutError):
            await asyncio.wait_for(self._handler.idle(), FINISH)
        for watcher in self._watchers:
            watcher.cancel()
        self._web.pre_shutdown()
        await self._web.shutdown(timeout=1.0)
        self._log.flush()

    @property
    def ready(self) -> bool:
        """Does it want requests."""
        return bool(self._watchers) and not self._stopping

    def detail(self) -> dict[str, Any]:
        """Tell people what it works with and what is wrong with newer files."""
        state = self._state.current
        return {
            "ready": self.ready,
            "stopping": self._stopping,
            "release": str(state.release.version),
            "policies": {"loaded": len(state.policies)} | self._state.report(),
            "lookups": {"synced": True, "from": "file" if self._settings.cluster_state else "nothing"},
            "certificate": {"expires": self._certificate.current.expires} | self._certificate.report(),
        }

    def samples(self) -> Samples:
        """Tell Prometheus the numbers of this process."""
        state, certificate = self._state, self._certificate
        return self.metrics.samples() | {
            "cozyguard_policies": [[len(state.current.policies)]],
            "cozyguard_reloads_total": [
                [one.name, result, number]
                for one in (state, certificate)
                for result, number in (("success", one.generation - 1), ("error", one.failures))
            ],
            "cozyguard_last_good_load_timestamp_seconds": [
                [one.name, one.loaded_at.timestamp()] for one in (state, certificate)
            ],
            "cozyguard_certificate_expiry_timestamp_seconds": [[certificate.current.expires.timestamp()]],
            "cozyguard_workers": [[int(self.ready)]],
        }
