"""The playground's own small server: for the browser of whoever started it, and for nobody else.

It listens on the loopback address. A page of another site could still have the browser send requests there; so each
must name this host (a site can let its own name lead here, https://en.wikipedia.org/wiki/DNS_rebinding), come from our
own page, and carry a token that only the address printed at the start tells. The page itself holds no secret.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import socket
from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, Protocol

import orjson
from aiohttp import web

from webhook.server.runner import run_loop
from webhook.server.signals import Stop
from webhook.server.sockets import bind, port_of

if TYPE_CHECKING:
    from aiohttp.typedefs import Handler, Middleware

HOST: Final = "127.0.0.1"
LIMIT: Final = 2**20
"""Bytes of a request: some policies and some objects, typed by hand."""

_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",  # the page's own policy says the rest
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Playground(Protocol):
    """What the server asks; each may take a while, and gives JSON."""

    def page(self) -> str:
        """Give the page, as HTML."""

    def starts(self) -> Any:
        """List what a try can start from."""

    def start(self, name: str) -> Any:
        """Give one of them. Raises ValueError, which says why it cannot be had."""

    def attempt(self, given: Any) -> Any:
        """Try. Raises ValueError, which says what cannot be tried."""


def serve(playground: Playground, port: int, announce: Callable[[str], None]) -> None:
    """Serve until SIGTERM or Ctrl-C; `announce` is told the address of the page. Raises UsageError without a port."""
    run_loop(_serve(playground, bind(HOST, port), announce))


async def _serve(playground: Playground, sock: socket.socket, announce: Callable[[str], None]) -> None:
    stop, port, token = Stop(), port_of(sock), secrets.token_urlsafe(24)
    runner = web.AppRunner(application(playground, port, token), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.SockSite(runner, sock).start()
        announce(f"http://{HOST}:{port}/#{token}")  # what follows the `#` is never sent, and so in no log
        await stop.wait()
    finally:
        await runner.cleanup()


def application(playground: Playground, port: int, token: str) -> web.Application:
    """Serve the page at `/`, and below `/api/` what it asks for, one request at a time."""
    alone = asyncio.Lock()

    async def answered(work: Callable[..., Any], *arguments: Any) -> Any:
        async with alone:
            return await asyncio.to_thread(work, *arguments)

    async def page(_: web.Request) -> web.Response:
        return web.Response(text=await answered(playground.page), content_type="text/html", charset="utf-8")

    async def starts(_: web.Request) -> web.Response:
        return web.json_response(await answered(playground.starts))

    async def start(request: web.Request) -> web.Response:
        try:
            return web.json_response(await answered(playground.start, request.match_info["name"]))
        except ValueError as error:
            return _refusal(HTTPStatus.NOT_FOUND, str(error))

    async def attempt(request: web.Request) -> web.Response:
        try:
            given = orjson.loads(await request.read())
        except orjson.JSONDecodeError as error:
            return _refusal(HTTPStatus.BAD_REQUEST, f"the body is not JSON: {error}")
        try:
            return web.json_response(await answered(playground.attempt, given))
        except ValueError as error:
            return _refusal(HTTPStatus.BAD_REQUEST, str(error))

    made = web.Application(client_max_size=LIMIT, middlewares=[_guard(port, token)])
    made.add_routes(
        [
            web.get("/", page),
            web.get("/api/starts", starts),
            web.get("/api/starts/{name}", start),
            web.post("/api/try", attempt),
        ]
    )
    return made


def _guard(port: int, token: str) -> Middleware:
    hosts = (f"{HOST}:{port}", f"localhost:{port}")
    origins = [f"http://{host}" for host in hosts]

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.host not in hosts:
            response: web.StreamResponse = _refusal(HTTPStatus.FORBIDDEN, "this is no host of ours")
        elif request.headers.get("Origin", origins[0]) not in origins:
            response = _refusal(HTTPStatus.FORBIDDEN, "this page is none of ours")
        elif request.path.startswith("/api/") and not hmac.compare_digest(_token(request), token.encode()):
            response = _refusal(HTTPStatus.FORBIDDEN, "the token is missing: open the address that was printed")
        else:
            response = await handler(request)
        response.headers.update(_HEADERS)
        return response

    return guard


def _token(request: web.Request) -> bytes:
    return request.headers.get("Authorization", "").removeprefix("Bearer ").encode(errors="surrogateescape")


def _refusal(status: HTTPStatus, message: str) -> web.Response:
    return web.Response(text=f"{message}\n", status=status)
