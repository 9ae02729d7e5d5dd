"""SIGTERM and SIGINT: when to stop, and how much haste there is."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any


class Stop:
    """SIGTERM asks for a stop with a drain, SIGINT (somebody at a terminal) for one without.

    A second signal of either kind ends a drain that is under way.
    """

    def __init__(self) -> None:
        """Listen to both signals; needs a running event loop."""
        self._asked = asyncio.Event()
        self._hurry = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self.ask)
        loop.add_signal_handler(signal.SIGINT, self.hurry)

    def ask(self) -> None:
        """Stop, unhurried unless it is said twice."""
        (self._hurry if self._asked.is_set() else self._asked).set()

    def hurry(self) -> None:
        """Stop at once."""
        self._asked.set()
        self._hurry.set()

    async def wait(self) -> None:
        """Return when somebody wants a stop."""
        await self._asked.wait()

    async def unless(self, work: Coroutine[Any, Any, None]) -> bool:
        """Do this work, unless somebody wants a stop first; was it done. Raises what the work raises."""
        doing, asked = asyncio.create_task(work), asyncio.create_task(self._asked.wait())
        await asyncio.wait([doing, asked], return_when=asyncio.FIRST_COMPLETED)
        asked.cancel()
        if doing.done():
            await doing
            return True
        doing.cancel()
        with suppress(asyncio.CancelledError):
            await doing
        return False

    async def drain(self, seconds: float) -> None:
        """Return after so many seconds, or as soon as there is haste."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._hurry.wait(), seconds)
