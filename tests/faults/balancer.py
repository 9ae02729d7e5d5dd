"""A load balancer that does what a Service does, as a process of its own: `python -m tests.faults.balancer PORT:PROBE…`.

A new connection goes to the next backend that is ready; readiness is asked of the probe port, as the kubelet asks. A
connection that is open stays with its backend, whatever becomes of that. The port is printed.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from dataclasses import dataclass

import aiohttp

_PERIOD = 1.0
"""Seconds between two probes: the shortest period that a Pod can ask for."""


@dataclass
class Backend:
    """A replica: its ports, and whether it said that it is ready when it was asked last."""

    port: int
    probe_port: int
    ready: bool = False

    async def probe(self, session: aiohttp.ClientSession) -> None:
        """Ask, again and again."""
        while True:
            try:
                async with session.get(f"http://127.0.0.1:{self.probe_port}/readyz") as answer:
                    self.ready = answer.ok
            except (aiohttp.ClientError, TimeoutError):
                self.ready = False
            await asyncio.sleep(_PERIOD)


class Balancer:
    """Hands connections out in turn."""

    def __init__(self, backends: list[Backend]) -> None:
        self._backends = backends
        self._turn = 0

    async def connect(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        """Join a client with a backend until both have closed; without one, refuse."""
        try:
            backend, to_backend = await asyncio.open_connection("127.0.0.1", self._next().port)
        except OSError:
            to_client.transport.abort()
            return
        await asyncio.gather(_copy(client, to_backend), _copy(backend, to_client))

    def _next(self) -> Backend:
        ready = [backend for backend in self._backends if backend.ready]
        if not ready:
            raise ConnectionRefusedError
        self._turn += 1
        return ready[self._turn % len(ready)]


async def _copy(source: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
    """Hand on what comes, and the end of it; a connection that breaks breaks on the other side, too."""
    try:
        while data := await source.read(65_536):
            to.write(data)
            await to.drain()
        to.write_eof()
    except OSError:
        to.transport.abort()


async def _serve(backends: list[Backend]) -> None:
    async with (
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=_PERIOD)) as session,
        asyncio.TaskGroup() as group,
    ):
        for backend in backends:
            group.create_task(backend.probe(session))
        server = await asyncio.start_server(Balancer(backends).connect, "127.0.0.1", 0)
        sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
        sys.stdout.flush()
        await server.serve_forever()


if __name__ == "__main__":
    pairs = [argument.partition(":") for argument in sys.argv[1:]]
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve([Backend(int(port), int(probe)) for port, _, probe in pairs]))
