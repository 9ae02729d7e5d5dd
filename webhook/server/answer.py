"""HTTP responses: the one that every review gets, made of parts that are ready, and the rare others."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final

import orjson
from aiohttp import web

from webhook.admission import codec
from webhook.errors import ReviewError

if TYPE_CHECKING:
    from aiohttp.abc import AbstractStreamWriter

_HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
_LAST_HEAD: Final = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
)


class Answer(web.StreamResponse):
    """An AdmissionReview on its way out: head and body in one write.

    aiohttp's own Response builds, checks and serialises a header map for each answer; with that
    left out the server answers half as many requests again (`benchmarks/server.py`).
    """

    def __init__(self, body: bytes, *, last: bool = False) -> None:
        """Answer with this body; `last` closes the connection after it."""
        super().__init__()
        self._bytes = (_LAST_HEAD if last else _HEAD) % len(body) + body
        self._last = last

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter | None:
        """Write all of it. Raises ConnectionResetError when the client has gone."""
        transport = request.transport
        if transport is None or transport.is_closing():
            raise ConnectionResetError("the client has gone")
        self._keep_alive = request.keep_alive and not self._last
        transport.write(self._bytes)
        return None

    async def write_eof(self, data: bytes = b"") -> None:
        """Do nothing: `prepare` has written everything."""
        del data


def refusal(error: ReviewError) -> web.Response:
    """Answer what is no review with its HTTP status and a `Status`, which the API server shows to people."""
    reason = error.status.phrase.replace(" ", "")
    status = codec.status(str(error), reason, error.status, {})
    body = orjson.dumps(
        {"apiVersion": "v1", "kind": "Status", "metadata": {}} | status, option=orjson.OPT_APPEND_NEWLINE
    )
    headers = {"Allow": "POST"} if error.status is HTTPStatus.METHOD_NOT_ALLOWED else None
    return web.Response(body=body, status=error.status, content_type="application/json", headers=headers)
