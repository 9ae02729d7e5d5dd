"""Lists of any length, a page at a time: in bounded memory, no faster than agreed, and not ended by passing trouble."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import suppress
from http import HTTPStatus
from typing import Final

from webhook.cluster.client import Client, Page
from webhook.cluster.faults import ApiError, Unreachable
from webhook.cluster.rate import Rate

_PAGE_BYTES: Final = 2 << 20
"""So much JSON a page should be: it is about ten times as much while it is looked at."""
_FIRST: Final = 50
"""Objects of the first page: how large they are is not known before, and there are Secrets of 1 MiB."""
_MOST: Final = 500

_SPECIAL: Final = re.compile(r"[\\,=]")
_ESCAPED: Final = r"\\\g<0>"
"""In a field selector."""

_TRIES: Final = 5
_LONGEST_WAIT: Final = 60.0
_TRANSIENT: Final = frozenset(
    {
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.INTERNAL_SERVER_ERROR,
        HTTPStatus.BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE,
        HTTPStatus.GATEWAY_TIMEOUT,
    }
)


class Pager:
    """Reads the pages of any number of lists at once."""

    def __init__(self, client: Client, rate: Rate) -> None:
        """Ask nothing yet."""
        self._client = client
        self._rate = rate

    async def pages(self, path: str, name: str = "") -> AsyncGenerator[Page, None]:
        """List a collection, or one object of it; the next page is on its way while one is looked at.

        The pages are consistent with each other. When the API server has forgotten how things were at the first (it
        remembers five minutes), the rest is as it is now: objects come in the order of their names, so none comes
        twice, and only one that is made meanwhile can be missing.

        Raises ApiError for what is no passing trouble; objects that came before it stand.
        """
        query = {"fieldSelector": f"metadata.name={_SPECIAL.sub(_ESCAPED, name)}"} if name else {}
        coming = asyncio.create_task(self._page(path, query, _FIRST, ""))
        try:
            while True:
                page = await coming
                if not page.token:
                    yield page
                    return
                coming = asyncio.create_task(self._page(path, query, _limit(page), page.token))
                yield page
        finally:
            coming.cancel()
            with suppress(asyncio.CancelledError, ApiError):
                await coming

    async def _page(self, path: str, query: dict[str, str], limit: int, token: str) -> Page:
        """Read a page, with the patience that is asked for."""
        for tries_left in reversed(range(_TRIES)):
            await self._rate.turn()
            try:
                return await self._client.page(path, limit=limit, token=token, **query)
            except ApiError as error:
                if error.is_gone and error.token:
                    token = error.token
                elif tries_left and (isinstance(error, Unreachable) or error.status in _TRANSIENT):
                    await asyncio.sleep(min(error.retry_after or 2.0 ** (_TRIES - tries_left - 1), _LONGEST_WAIT))
                else:
                    raise
        raise ApiError(f"GET {path}: history is forgotten faster than it can be read", status=HTTPStatus.GONE)


def _limit(page: Page) -> int:
    """Choose how many objects to ask for, going by those that have come."""
    return max(1, min(_MOST, _PAGE_BYTES * len(page.items) // max(page.size, 1)))
