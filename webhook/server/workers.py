"""Several processes on one port: started, listened to, started again when they die.

Each worker opens the port for itself (SO_REUSEPORT), so the kernel spreads connections, and the port of a worker that
died takes no more of them. With one listening socket for all, whoever wakes first takes what is there: of 64
connections four workers got 44, 24, 6 and 5, against 24, 21, 19 and 15 this way.

The parent answers probes from what each worker told it last, and keeps the counts of a worker that has died, so that
totals never fall. (Prometheus' own multiprocess mode needs a writable folder, and pays for a file mapping at every
increment.)
"""

from __future__ import annotations

import asyncio
import socket
import time
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from typing import Any, Final

import orjson

from webhook.errors import UsageError
from webhook.server.logs import Log
from webhook.server.metrics import Samples, counters
from webhook.server.probes import Report
from webhook.server.service import FINISH
from webhook.server.settings import Settings
from webhook.server.signals import Stop
from webhook.server.worker import work

_SILENT: Final = 10.0
"""Seconds without a word after which a worker does not count as ready: it says something every second."""
_FIRST_DELAY: Final = 0.25
"""Seconds before a dead worker is started again; doubled each time it dies young."""
_LONGEST_DELAY: Final = 30.0
_YOUNG: Final = 60.0
"""Seconds a worker has to live for its death to count as a new mishap."""
_LONGEST_LINE: Final = 16 * 1024 * 1024
_NOT_READY: Final[dict[str, Any]] = {"ready": False}


class Workers:
    """All workers, from their parent's point of view."""

    def __init__(self, settings: Settings, log: Log) -> None:
        """Plan for `settings.workers` processes on `settings.port`, which is a real one."""
        self._settings, self._log = settings, log
        self._seats = [_Seat(settings, log) for _ in range(settings.workers)]
        self._stopping = False

    async def serve_until(self, stop: Stop) -> None:
        """Keep the processes running until asked to stop. Raises UsageError when one cannot start at all."""
        keepers = [asyncio.create_task(seat.keep()) for seat in self._seats]
        asked = asyncio.create_task(stop.wait())
        await asyncio.wait([asked, *keepers], return_when=asyncio.FIRST_COMPLETED)
        asked.cancel()
        self._log.info("stopping")
        self._stopping = True
        for seat in self._seats:
            seat.stop()
        done, late = await asyncio.wait(keepers, timeout=self._settings.drain_seconds + FINISH + 5)
        for seat in self._seats:
            seat.kill()
        for keeper in late:
            keeper.cancel()
        for keeper in done:
            keeper.result()

    def report(self) -> Report:
        """Tell what all of them told: ready when all are."""
        ready = not self._stopping and all(seat.ready for seat in self._seats)
        detail = {"want": len(self._seats), "workers": [seat.detail for seat in self._seats]}
        restarts: Samples = {"cozyguard_worker_restarts_total": [[sum(seat.restarts for seat in self._seats)]]}
        return Report(ready, detail, (restarts, *(one for seat in self._seats for one in (seat.samples, seat.past))))


class _Seat:
    """A place for one worker: the process in it, what it said last, and what its predecessors counted."""

    def __init__(self, settings: Settings, log: Log) -> None:
        self._settings, self._log = settings, log
        self._process: BaseProcess | None = None
        self._stopped = asyncio.Event()
        self._heard = 0.0
        self._ever_ready = False
        self.restarts = 0
        self.detail = _NOT_READY
        self.samples: Samples = {}
        self.past: Samples = {}

    @property
    def ready(self) -> bool:
        """Has it said so, and not long ago."""
        return self.detail["ready"] and time.monotonic() - self._heard < _SILENT

    async def keep(self) -> None:
        """Run a process, and another one when it ends, until stopped. Raises UsageError if the first cannot start."""
        delay = _FIRST_DELAY
        while not self._stopped.is_set():
            started = time.monotonic()
            await self._listen(self._start())
            if not self._stopped.is_set():
                young = time.monotonic() - started < _YOUNG
                delay = min(delay * 2, _LONGEST_DELAY) if young else _FIRST_DELAY
                self._log.error("a worker ended, another one follows", exitCode=await self._exit_code(), seconds=delay)
                self.restarts += 1
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._stopped.wait(), delay)

    def stop(self) -> None:
        """Ask the process to end, and start no other."""
        self._stopped.set()
        if self._process and self._process.is_alive():
            self._process.terminate()

    def kill(self) -> None:
        """End the process if it is still there."""
        if self._process and self._process.is_alive():
            self._process.kill()

    def _start(self) -> socket.socket:
        """Start a process; a fresh interpreter, as a fork would share our event loop. Gives our end of its channel."""
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = get_context("spawn").Process(target=work, args=(self._settings, theirs))
            self._process.start()
        return ours

    async def _listen(self, channel: socket.socket) -> None:
        """Take down what the process says, until it has nothing more to say, which is when it has ended."""
        reader, writer = await asyncio.open_connection(sock=channel, limit=_LONGEST_LINE)
        while line := await reader.readline():
            said = orjson.loads(line)
            if "error" in said:
                self._refuse(said["error"])
                continue
            self.detail, self.samples, self._heard = said["detail"], said["samples"], time.monotonic()
            self._ever_ready |= self.detail["ready"]
        writer.close()
        self.past, self.samples, self.detail = counters((self.past, self.samples)), {}, _NOT_READY

    def _refuse(self, error: str) -> None:
        """Give up if no process ever served here; else others still do, and the next attempt may succeed."""
        if not self._ever_ready:
            raise UsageError(error)
        self._log.error("a worker cannot start", error=error)

    async def _exit_code(self) -> int | None:
        process = self._process
        if process is None:
            return None
        await asyncio.to_thread(process.join, 5)
        return process.exitcode
