"""The playground's server: what it answers, and whom."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from webhook.server import playground
from webhook.server.sockets import bind, port_of

TOKEN = "t0ken"
TRY = {"policy": "a"}


class Echo:
    """Answers with what it is asked."""

    def page(self) -> str:
        return "<!doctype html>"

    def starts(self) -> Any:
        return ["a"]

    def start(self, name: str) -> Any:
        if name == "absent":
            raise ValueError("there is no such policy")
        return {"name": name}

    def attempt(self, given: Any) -> Any:
        if given != TRY:
            raise ValueError("want another one")
        return given


@pytest.fixture
async def client() -> AsyncIterator[aiohttp.ClientSession]:
    """Talk to a server as its own page does."""
    sock = bind(playground.HOST, 0)
    port = port_of(sock)
    runner = web.AppRunner(playground.application(Echo(), port, TOKEN), access_log=None)
    await runner.setup()
    await web.SockSite(runner, sock).start()
    base = f"http://{playground.HOST}:{port}"
    headers = {"Authorization": f"Bearer {TOKEN}", "Origin": base}
    async with aiohttp.ClientSession(base, headers=headers) as session:
        yield session
    await runner.cleanup()


async def test_the_page_gets_what_it_asks_for(client: aiohttp.ClientSession) -> None:
    async with client.get("/") as response:
        assert response.headers["Content-Type"] == "text/html; charset=utf-8"
        assert response.headers["Content-Security-Policy"] == "frame-ancestors 'none'"
        assert response.headers["Cache-Control"] == "no-store"
    async with client.get("/api/starts") as response:
        assert await response.json() == ["a"]
    async with client.get("/api/starts/a") as response:
        assert await response.json() == {"name": "a"}
    async with client.post("/api/try", json=TRY) as response:
        assert await response.json() == TRY


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "message"),
    [
        ("GET", "/api/starts/absent", None, HTTPStatus.NOT_FOUND, "there is no such policy"),
        ("POST", "/api/try", b"{", HTTPStatus.BAD_REQUEST, "JSON"),
        ("POST", "/api/try", b"[]", HTTPStatus.BAD_REQUEST, "want another one"),
        ("GET", "/api/try", None, HTTPStatus.METHOD_NOT_ALLOWED, ""),
        ("GET", "/other", None, HTTPStatus.NOT_FOUND, ""),
    ],
)
async def test_what_cannot_be_answered_says_why(
    client: aiohttp.ClientSession, method: str, path: str, body: bytes | None, status: HTTPStatus, message: str
) -> None:
    async with client.request(method, path, data=body) as response:
        assert response.status == status
        assert message in await response.text()


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ({"Host": "rebound.example.org"}, "this is no host of ours"),
        ({"Host": "127.0.0.1"}, "this is no host of ours"),
        ({"Origin": "https://example.org"}, "this page is none of ours"),
        ({"Origin": "null"}, "this page is none of ours"),
        ({"Authorization": ""}, "the token is missing"),
        ({"Authorization": "Bearer other"}, "the token is missing"),
        ({"Authorization": "Bearer t\udcf6ken"}, "the token is missing"),
    ],
)
@pytest.mark.parametrize(("method", "path"), [("GET", "/api/starts"), ("GET", "/api/starts/a"), ("POST", "/api/try")])
async def test_nobody_else_is_answered(
    client: aiohttp.ClientSession, method: str, path: str, headers: dict[str, str], message: str
) -> None:
    async with client.request(method, path, headers=headers, json=TRY if method == "POST" else None) as response:
        assert response.status == HTTPStatus.FORBIDDEN
        assert message in await response.text()


async def test_a_body_that_is_too_large_is_not_read(client: aiohttp.ClientSession) -> None:
    async with client.post("/api/try", data=io.BytesIO(b" " * (playground.LIMIT + 1))) as response:
        assert response.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE


async def test_the_page_itself_is_not_given_under_another_name(client: aiohttp.ClientSession) -> None:
    async with client.get("/", headers={"Host": "rebound.example.org"}) as response:
        assert response.status == HTTPStatus.FORBIDDEN
