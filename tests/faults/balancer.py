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
"""Seconds between two probes, and for an answer to one: the shortest that a Pod can ask for."""

_MISSES = 3
"""So many probes in a row without an answer, and a backend is not ready: what a Pod has if it says nothing else."""


@dataclass
class Backend:
    """A replica: its ports, and whether it said that it is ready when it was asked last."""

    port: int
    probe_port: int
    ready: bool = False

    async def watch(self, session: aiohttp.ClientSession) -> None:
        """Ask again and again; who says no, or has ended, is out at once, as a Pod is that is deleted or dies."""
        misses = 0
        while True:
            try:
                async with session.get(f"http://127.0.0.1:{self.probe_port}/readyz") as answer:
                    self.ready, misses = answer.ok, 0
            except TimeoutError:
                misses += 1
                self.ready = self.ready and misses < _MISSES
            except aiohttp.ClientError:
                self.ready = False
            await asyncio.sleep(_PERIOD)


class Balancer:
    """Hands connections out in turn."""

    def __init__(self, backends: list[Backend]) -> None:
        self._backends = backends
        self._turn = 0
        self._joined: set[asyncio.Task[None]] = set()  # asyncio forgets a task whose client has gone

    def connect(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        """Join a client with a backend until both have closed; without one, refuse."""
        task = asyncio.create_task(self._join(client, to_client))
        self._joined.add(task)
        task.add_done_callback(self._joined.discard)

    async def _join(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        try:
            backend, to_backend = await asyncio.open_connection("127.0.0.1", self._next().port)
        except OSError:
            to_client.transport.abort()
            return
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(_copy(client, to_backend))
                both.create_task(_copy(backend, to_client))
        except* OSError:
            to_client.transport.abort()
            to_backend.transport.abort()
        to_client.close()
        to_backend.close()

    def _next(self) -> Backend:
        ready = [backend for backend in self._backends if backend.ready]
        if not ready:
            raise ConnectionRefusedError
        self._turn += 1
        return ready[self._turn % len(ready)]


async def _copy(source: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
    """Hand on what comes, and its end. Raises OSError when either connection breaks, so that both do."""
    while data := await source.read(65_536):
        to.write(data)
        await to.drain()
    to.write_eof()


async def _serve(backends: list[Backend]) -> None:
    async with (
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=_PERIOD)) as session,
        asyncio.TaskGroup() as group,
    ):
        for backend in backends:
            group.create_task(backend.watch(session))
        server = await asyncio.start_server(Balancer(backends).connect, "127.0.0.1", 0)
        sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
        sys.stdout.flush()
        await server.serve_forever()


if __name__ == "__main__":
    pairs = [argument.partition(":") for argument in sys.argv[1:]]
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve([Backend(int(port), int(probe)) for port, _, probe in pairs]))
