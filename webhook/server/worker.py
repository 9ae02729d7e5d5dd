"""One of several processes that answer reviews: it serves, and tells its parent how it is doing, a line a second."""

from __future__ import annotations

import asyncio
import signal
import socket
from contextlib import suppress
from typing import Final

import orjson

from webhook.errors import CozyguardError
from webhook.server.logs import Log, start_log
from webhook.server.runner import run_loop
from webhook.server.service import Service
from webhook.server.settings import Settings
from webhook.server.signals import Stop
from webhook.server.sockets import bind

INTERVAL: Final = 1.0
"""Seconds between two lines."""


def work(settings: Settings, channel: socket.socket) -> None:
    """Serve on `settings.port`, a real one, until SIGTERM or until the parent is gone. A process starts here."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all processes; the parent decides
    log = start_log(settings.log_level)
    try:
        run_loop(_serve(settings, channel, log))
    except CozyguardError as error:
        with suppress(OSError):
            channel.sendall(orjson.dumps({"error": str(error)}) + b"\n")


async def _serve(settings: Settings, channel: socket.socket, log: Log) -> None:
    stop, service = Stop(), Service(settings, log)
    sock = bind(settings.host, settings.port, shared=True)
    reader, writer = await asyncio.open_connection(sock=channel)
    listening = asyncio.create_task(_outlive_nobody(reader, stop))
    telling = asyncio.create_task(_tell(service, writer))
    await stop.unless(service.start(sock))
    await service.serve_until(stop)
    telling.cancel()
    listening.cancel()


async def _tell(service: Service, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while True:
            line = orjson.dumps({"detail": service.detail(), "samples": service.samples()}, option=orjson.OPT_UTC_Z)
            writer.write(line + b"\n")
            await writer.drain()
            await asyncio.sleep(INTERVAL)


async def _outlive_nobody(reader: asyncio.StreamReader, stop: Stop) -> None:
    """Stop when the parent is gone: it never says anything, so all there is to read is the end."""
    with suppress(ConnectionError):
        await reader.read()
    stop.hurry()
