"""Reading a request's body, never more of it than a review can be."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, TypeVar

from webhook.errors import ReviewError
from webhook.server.deadline import Deadline

if TYPE_CHECKING:
    from aiohttp import web

Body = TypeVar("Body", bytes, bytearray)

LIMIT: Final = 7 * 1024 * 1024
"""Bytes. The API server takes objects of up to 3 MiB (`MaxRequestBodyBytes`, what etcd takes with room to spare);
an update carries two of them, the old and the new, and a megabyte is for the rest of the review and for escapes."""


ROOM: Final = 8 * LIMIT
"""Bytes that bodies on their way may take together. API servers send few reviews of megabytes at once; somebody who
opens many connections must not be able to fill the memory."""

SMALL: Final = 64 * 1024
"""Bytes of each body that need no room: large bodies must not keep the many small reviews out."""


class Room:
    """What is left for bodies that are on their way."""

    def __init__(self) -> None:
        """Start with all of it."""
        self._left = ROOM

    def take(self, size: int) -> None:
        """Use some. Raises ReviewError (503) when there is no more; that counts as taken."""
        self._left -= size
        if self._left < 0:
            message = f"too many large bodies at once: want at most {ROOM} bytes on their way; try again"
            raise ReviewError(message, HTTPStatus.SERVICE_UNAVAILABLE)

    def give(self, size: int) -> None:
        """Give it back."""
        self._left += size


async def read_body(request: web.BaseRequest, deadline: Deadline, room: Room) -> bytes:
    """Read the whole body. Raises ReviewError: 413 when it is too large, 408 when it is late, 503 without room."""
    content = request.content
    if content.is_eof():  # it came with the headers, as small reviews do
        return _within_limit(content.read_nowait())
    if (declared := request.content_length) is not None and declared > LIMIT:
        raise _too_large(declared)
    if request.headers.get("Expect", "").lower() == "100-continue" and request.transport:
        request.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    body, taken = bytearray(), 0
    try:
        async with asyncio.timeout(deadline.left):
            while chunk := await content.readany():
                body += chunk
                before, taken = taken, max(0, len(body) - SMALL)
                room.take(taken - before)
                _within_limit(body)
    except TimeoutError:
        message = f"the body did not come in time: {len(body)} bytes of it did"
        raise ReviewError(message, HTTPStatus.REQUEST_TIMEOUT) from None
    finally:
        room.give(taken)
    return bytes(body)


def _within_limit(body: Body) -> Body:
    if len(body) > LIMIT:
        raise _too_large(len(body))
    return body


def _too_large(size: int) -> ReviewError:
    message = f"the body is too large: got at least {size} bytes, want at most {LIMIT}"
    return ReviewError(message, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
