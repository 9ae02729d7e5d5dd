"""One process that answers reviews: its files, its port, its graceful end."""

from __future__ import annotations

import asyncio
import signal
import socket
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from aiohttp import web

from webhook.errors import CozyguardError
from webhook.server import tls, world
from webhook.server.handler import Handler
from webhook.server.logs import Log, failure
from webhook.server.metrics import Metrics, Samples
from webhook.server.recorder import Recorder
from webhook.server.settings import Settings
from webhook.server.signals import Stop
from webhook.server.tls import Certificate
from webhook.server.watched import INTERVAL, Watched, settle
from webhook.server.world import World

if TYPE_CHECKING:
    from webhook.server.live import Live

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
        self._live: Live | None = None
        self._certificate = self._from_files(*settings.pair) if settings.pair else None
        self._state = Watched(
            "state",
            lambda before: world.load(settings, log, self._live, before),
            lambda current: world.paths(settings, current),
            log,
            lambda: self._live and self._live.seen,
            self._take,
        )
        self._recorder = (
            Recorder(settings.record, settings.record_percent, settings.record_limit << 20, log)
            if settings.record
            else None
        )
        self._handler = Handler(self._state, self.metrics, log, self._recorder)
        self._tasks: list[asyncio.Task[None]] = []
        self._server: asyncio.Server | None = None
        self._stopping = self._failed = False

    async def start(self, sock: socket.socket) -> None:
        """Answer on this socket, which is bound already; where there is a cluster, once it is known."""
        if self._settings.live:
            await self._enter_cluster()
        assert self._certificate  # noqa: S101 - from files, or from the cluster
        certificate = self._certificate
        # The low-level server: no router, no middleware, no access log, none of which a review needs.
        self._web = web.Server(self._handler, access_log=None, keepalive_timeout=KEEP_ALIVE, auto_decompress=False)
        self._server = await asyncio.get_running_loop().create_server(
            self._web,
            sock=sock,
            backlog=1024,
            ssl=tls.serving(lambda: certificate.current),
            ssl_handshake_timeout=HANDSHAKE,
        )
        if self._live:
            self._live.start_leading()
        settle()
        self._tasks += [asyncio.create_task(one.watch()) for one in (certificate, self._state)]

    async def _enter_cluster(self) -> None:
        """Return when all that policies look up has been listed, and there is a certificate."""
        from webhook.server.live import Live  # here: what it needs is for clusters alone

        live = self._live = await Live.connect(self._settings, self._log, lambda: self._state.current)
        running = asyncio.create_task(live.run())
        running.add_done_callback(self._ended)
        self._tasks.append(running)
        await live.listed()
        await asyncio.to_thread(self._state.look)
        while self._state.current.cluster is not live.cache:
            await asyncio.sleep(INTERVAL)
            await asyncio.to_thread(self._state.look)
        if self._certificate:
            live.serves(self._certificate.current)
        else:
            self._certificate = await live.certificate()

    def _from_files(self, cert: Path, key: Path) -> Watched[Certificate]:
        def taken(certificate: Certificate) -> None:
            if self._live:
                self._live.serves(certificate)

        return Watched("certificate", lambda _: tls.load(cert, key), lambda _: (cert, key), self._log, taken=taken)

    def _take(self, current: World) -> None:
        if self._live:
            self._live.take(current)

    async def serve_until(self, stop: Stop) -> None:
        """Serve; when asked to stop, turn clients away, then close the port, and finish what has begun.

        Raises CozyguardError when it stopped for a fault of its own.
        """
        await stop.wait()
        self._log.info("stopping")
        self._stopping = self._handler.stopping = True
        if self._server:
            await self._finish(self._server, stop)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._recorder:
            await asyncio.to_thread(self._recorder.close)
        self._log.flush()
        if self._failed:
            raise CozyguardError("stopped by a fault of its own, which the log names: please report it")

    def _ended(self, running: asyncio.Task[None]) -> None:
        """Stop when the work in the cluster ends by itself: whoever started us starts another one."""
        error = None if running.cancelled() else running.exception()
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if error:
            self._log.error("the work in the cluster has failed", **failure(error))
            self._failed = True
            signal.raise_signal(signal.SIGTERM)

    async def _finish(self, server: asyncio.Server, stop: Stop) -> None:
        await stop.drain(self._settings.drain_seconds)
        server.close()
        # Connections are left alone until then: aiohttp would drop the rest of a body that is still on its way.
        with suppress(TimeoutError):
            await asyncio.wait_for(self._handler.idle(), FINISH)
        self._web.pre_shutdown()
        await self._web.shutdown(timeout=1.0)

    @property
    def ready(self) -> bool:
        """Does it want requests."""
        return self._server is not None and not self._stopping

    def detail(self) -> dict[str, Any]:
        """Tell people what it works with and what is wrong with newer files."""
        state = self._state.current
        return {
            "ready": self.ready,
            "stopping": self._stopping,
            "release": str(state.release.version),
            "policies": {"loaded": len(state.policies)} | self._state.report(),
            "lookups": self._lookups(),
            "certificate": self._certificate
            and {"expires": self._certificate.current.expires} | self._certificate.report(),
        }

    def samples(self) -> Samples:
        """Tell Prometheus the numbers of this process."""
        watched = [one for one in (self._state, self._certificate) if one]
        return (
            self.metrics.samples()
            | (self._live.samples() if self._live else {})
            | (self._recorder.samples() if self._recorder else {})
            | {
                "cozyguard_policies": [[len(self._state.current.policies)]],
                "cozyguard_reloads_total": [
                    [one.name, result, number]
                    for one in watched
                    for result, number in (("success", one.generation - 1), ("error", one.failures))
                ],
                "cozyguard_last_good_load_timestamp_seconds": [
                    [one.name, one.loaded_at.timestamp()] for one in watched
                ],
                "cozyguard_certificate_expiry_timestamp_seconds": [[self._certificate.current.expires.timestamp()]]
                if self._certificate
                else [],
                "cozyguard_workers": [[int(self.ready)]],
            }
        )

    def _lookups(self) -> dict[str, Any]:
        if self._live:
            return self._live.report()
        return {"synced": True, "from": "file" if self._settings.cluster_state else "nothing"}
