"""The second port, plain HTTP: is the process alive, is it ready, what has it done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import orjson
from aiohttp import web

from webhook.server.metrics import Samples, exposition


@dataclass(frozen=True, slots=True)
class Report:
    """What the whole server tells: readiness, with the detail of each worker, and the numbers of all processes."""

    ready: bool
    detail: dict[str, Any]
    samples: tuple[Samples, ...]


def application(report: Callable[[], Report]) -> web.Application:
    """Serve `/healthz`, `/readyz` and `/metrics`, from a report made at each request."""

    async def healthz(_: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def readyz(_: web.Request) -> web.Response:
        told = report()
        status = HTTPStatus.OK if told.ready else HTTPStatus.SERVICE_UNAVAILABLE
        option = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z
        body = orjson.dumps({"ready": told.ready} | told.detail, option=option)
        return web.Response(body=body, status=status, content_type="application/json")

    async def metrics(_: web.Request) -> web.Response:
        headers = {"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}
        return web.Response(body=exposition(report().samples), headers=headers)

    probes = web.Application()
    probes.add_routes([web.get("/healthz", healthz), web.get("/readyz", readyz), web.get("/metrics", metrics)])
    return probes
