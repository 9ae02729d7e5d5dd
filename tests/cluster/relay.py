"""A stretch of the way to the API server that can be cut, or fall silent."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from tests.controlplane.plane import ControlPlane
from webhook.cluster.access import Access


class Relay:
    """Passes bytes between a port of its own and the API server's; TLS goes through."""

    def __init__(self, plane: ControlPlane, folder: Path) -> None:
        self._plane = plane
        self._file = folder / "relay.kubeconfig"
        self._port = 0
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._silent: set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> Self:
        await self.mend()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.cut()

    def access(self, **user: Any) -> Access:
        """Reach the API server through here, as the administrator or for somebody (`as`)."""
        config = json.loads(self._plane.kubeconfig.read_text())
        config["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{self._port}"
        config["users"][0]["user"] |= user
        self._file.write_text(json.dumps(config))
        return Access(self._file)

    async def mend(self) -> None:
        """Take connections, on the port that it had before."""
        self._server = await asyncio.start_server(self._pass, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        """End every connection, and take no more."""
        if self._server:
            self._server.close()
        self.drop()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)  # sockets are closed at the next turn of the loop

    def drop(self) -> None:
        """End the connections that there are."""
        for writer in self._writers:
            writer.transport.abort()

    def silence(self) -> None:
        """Let no byte through any more on the connections that there are, without ending them."""
        self._silent |= self._writers

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        address = urlsplit(self._plane.url)
        try:
            upstream = await asyncio.open_connection(address.hostname, address.port)
        except OSError:
            writer.transport.abort()
            return
        for source, sink in ((reader, upstream[1]), (upstream[0], writer)):
            task = asyncio.create_task(self._copy(source, sink))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _copy(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        self._writers.add(sink)
        try:
            while data := await source.read(65536):
                if sink not in self._silent:
                    sink.write(data)
                    await sink.drain()
        except OSError:
            pass
        finally:
            self._writers.discard(sink)
            sink.transport.abort()
