"""`cozyguard serve`: one process that does it all, or workers on one port and a parent that minds them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

from aiohttp import web

from webhook.server.logs import Log, start_log
from webhook.server.probes import Report, application
from webhook.server.runner import run_loop
from webhook.server.service import Service
from webhook.server.settings import Settings
from webhook.server.signals import Stop
from webhook.server.sockets import bind, port_of
from webhook.server.workers import Workers


def run(settings: Settings) -> int:
    """Serve until SIGTERM or SIGINT, then return 0. Raises UsageError and DocumentErrors if it cannot start."""
    serve = _serve_alone if settings.workers == 1 else _serve_together
    run_loop(serve(settings, start_log(settings.log_level)))
    return 0


async def _serve_alone(settings: Settings, log: Log) -> None:
    stop, service = Stop(), Service(settings, log)
    sock = bind(settings.host, settings.port)

    def report() -> Report:
        return Report(service.ready, {"want": 1, "workers": [service.detail()]}, (service.samples(),))

    async with _probes(settings, report) as probe_port:
        if await stop.unless(service.start(sock)):
            log.info("serving", port=port_of(sock), probePort=probe_port, workers=1)
        await service.serve_until(stop)


async def _serve_together(settings: Settings, log: Log) -> None:
    stop = Stop()
    # Bound but not listening: it keeps the port ours, and chooses it where the settings say 0.
    with bind(settings.host, settings.port, shared=True) as sock:
        workers = Workers(replace(settings, port=port_of(sock)), log)
        async with _probes(settings, workers.report) as probe_port:
            log.info("serving", port=port_of(sock), probePort=probe_port, workers=settings.workers)
            await workers.serve_until(stop)


@asynccontextmanager
async def _probes(settings: Settings, report: Callable[[], Report]) -> AsyncIterator[int]:
    """Serve the probes while the block runs; gives their port. Raises UsageError."""
    sock = bind(settings.host, settings.probe_port)
    runner = web.AppRunner(application(report), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    await web.SockSite(runner, sock).start()
    try:
        yield port_of(sock)
    finally:
        await runner.cleanup()
