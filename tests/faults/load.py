"""A steady stream of requests to API servers, and what became of each."""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import count, product
from pathlib import Path

import aiohttp

from tests.e2e.kubectl import Object

_ANSWERED = 40.0
"""Seconds within which an API server answers, or refuses: its own limit is 34 for such requests."""

_MOST = 100
"""Requests without an answer, at which a burst is left out: a machine that is too slow for the load would otherwise
be all that is seen. An API server whose etcd pauses comes to that, too."""

_BUSY = {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT}
_NOT_READY = ("not yet ready to handle request", "etcdserver:")
"""What an API server says that starts, and one whose etcd does not answer."""


@dataclass(frozen=True)
class Request:
    """An object to create in a dry run, and what must come of it.

    `denied_by` is the policy that has to refuse it; without, `made` has to be in the object that comes back.
    """

    path: str
    body: Object
    denied_by: str = ""
    made: Object = field(default_factory=dict)

    @property
    def title(self) -> str:
        return f"{self.body['kind']} {self.body['metadata']['name']}"


@dataclass
class Counts:
    """What became of the requests; `slowest` is in seconds, and of those that were answered rightly."""

    right: int = 0
    failed: list[str] = field(default_factory=list)
    """Because of us: no answer, or the wrong one."""
    admitted: list[str] = field(default_factory=list)
    """Wrongly: to be denied or patched, and was not."""
    untaken: list[str] = field(default_factory=list)
    """By the API server, which was down, starting, or without etcd."""
    slowest: float = 0.0

    @property
    def all(self) -> int:
        return self.right + len(self.failed) + len(self.admitted) + len(self.untaken)

    def judge(self, request: Request, status: int, answer: Object, seconds: float) -> None:
        """Count an answer. What is not known to be right, or an API server's own trouble, counts as failed."""
        told = f"{request.title}: {status} {answer.get('message', '')}"
        if status == HTTPStatus.CREATED:
            right = not request.denied_by and _holds(answer, request.made)
            wrong = self.admitted
        else:
            right = bool(request.denied_by) and f"[{request.denied_by}]" in told
            wrong = self.untaken if _troubled(status, told) else self.failed
        if right:
            self.right += 1
            self.slowest = max(self.slowest, seconds)
        else:
            wrong.append(told)


class Load:
    """Sends `rate` requests a second, whether or not the ones before were answered.

    They come in bursts, each request to each API server, so that calls of the webhook go side by side over several
    connections, as in a cluster at work.
    """

    def __init__(
        self, urls: Sequence[str], token: str, certificate: Path, requests: Sequence[Request], rate: float
    ) -> None:
        self._urls, self._requests, self._rate = urls, requests, rate
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._open = 0
        self._trust = ssl.create_default_context(cafile=str(certificate))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Counts]:
        """Send for as long as the block runs; all requests have ended when it is left."""
        counts, stop = Counts(), asyncio.Event()
        connector = aiohttp.TCPConnector(limit=0, ssl=self._trust)
        timeout = aiohttp.ClientTimeout(total=_ANSWERED)
        async with aiohttp.ClientSession(connector=connector, headers=self._headers, timeout=timeout) as session:
            sender = asyncio.create_task(self._send(session, counts, stop))
            try:
                yield counts
            finally:
                stop.set()
                await sender

    async def _send(self, session: aiohttp.ClientSession, counts: Counts, stop: asyncio.Event) -> None:
        begun, period = time.monotonic(), len(self._urls) * len(self._requests) / self._rate
        async with asyncio.TaskGroup() as group:
            for number in count():
                await asyncio.sleep(max(0.0, begun + number * period - time.monotonic()))
                if stop.is_set():
                    break
                if self._open < _MOST:
                    for request, url in product(self._requests, self._urls):
                        group.create_task(self._ask(session, url + request.path, request, counts))

    async def _ask(self, session: aiohttp.ClientSession, url: str, request: Request, counts: Counts) -> None:
        begun = time.monotonic()
        self._open += 1
        try:
            async with session.post(f"{url}?dryRun=All", data=json.dumps(request.body)) as answer:
                status, text = answer.status, await answer.text()
        except (aiohttp.ClientError, OSError) as error:
            counts.untaken.append(f"{request.title}: {error!r}")
        else:
            counts.judge(request, status, _status(text), time.monotonic() - begun)
        finally:
            self._open -= 1


def _status(text: str) -> Object:
    """Read an answer; an API server that starts or stops answers in plain text."""
    try:
        answer: Object = json.loads(text)
    except ValueError:
        return {"message": text}
    return answer


def _troubled(status: int, told: str) -> bool:
    """Is it an API server's own trouble, and none with a webhook."""
    return "webhook" not in told and (status in _BUSY or any(words in told for words in _NOT_READY))


def _holds(obj: Object, made: Object) -> bool:
    """Are these fields in an object, at any depth."""
    return all(
        _holds(obj.get(key, {}), value) if isinstance(value, dict) else obj.get(key) == value
        for key, value in made.items()
    )
