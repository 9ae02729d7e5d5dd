"""A limit for requests, so that a long run leaves the API server to others."""

from __future__ import annotations

import asyncio
import time


class Rate:
    """So many requests a second at most, whoever of its users sends them. `requests` counts them."""

    def __init__(self, per_second: int) -> None:
        """Begin with the first request at once."""
        self.requests = 0
        self._gap = 1 / per_second
        self._next = 0.0

    async def turn(self) -> None:
        """Wait until the next request may be sent."""
        now = time.monotonic()
        at = max(now, self._next)
        self._next = at + self._gap
        self.requests += 1
        await asyncio.sleep(at - now)
