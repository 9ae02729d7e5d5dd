"""Requests to the API server: JSON in, JSON out, every failure an ApiError."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, Self

import orjson

from webhook.cluster import credentials
from webhook.cluster.access import Access
from webhook.cluster.faults import ApiError, of_status
from webhook.cluster.transport import JSON, Load, Request, Transport
from webhook.model.request import Object

FIELD_MANAGER: Final = "cozyguard"

_TRIES: Final = 4
_LONGEST_WAIT: Final = 10.0
"""Seconds to wait for an API server that asks for patience; what takes longer is the caller's to decide."""
_BUSY: Final = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
_IDEMPOTENT: Final = frozenset({"GET", "PUT", "DELETE"})


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a list; `remaining` counts what is still to come, as far as the API server tells.

    `items` have `apiVersion` and `kind`, which lists of built-in types leave out. `token` leads to the next page, ""
    after the last one; `size` is the bytes of JSON that this one took.
    """

    items: list[Object]
    resource_version: str
    kind: str
    remaining: int
    token: str
    size: int


@dataclass(frozen=True, slots=True)
class Event:
    """What a watch tells: `type` is ADDED, MODIFIED, DELETED or BOOKMARK."""

    type: str
    object: Object


class Client:
    """One API server, for any number of tasks at once.

    When it says that it is too busy and for how long, what can be repeated is repeated, up to three times. All methods
    raise ApiError; `path` is `Resource.path(…)`, and the keywords are the query (`labelSelector="a=b"`).
    """

    def __init__(self, transport: Transport) -> None:
        """Made by `connect`."""
        self._transport = transport

    @classmethod
    async def connect(cls, access: Access, load: Load = credentials.load) -> Self:
        """Read the credentials; nothing is asked yet. Raises UsageError."""
        return cls(Transport(access, await load(access), load))

    @property
    def url(self) -> str:
        """Where the API server is."""
        return self._transport.url

    async def __aenter__(self) -> Self:
        """Give itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connections."""
        await self.close()

    async def close(self) -> None:
        """Close the connections; watches end."""
        await self._transport.close()

    async def get(self, path: str, *, accept: str = JSON, **query: str) -> Object:
        """Read an object, or a list in one piece."""
        return await self._ask(Request("GET", path, query, accept=accept))

    async def create(self, path: str, obj: Object, **query: str) -> Object:
        """POST an object to its collection."""
        return await self._ask(Request("POST", path, query, orjson.dumps(obj)))

    async def replace(self, path: str, obj: Object, **query: str) -> Object:
        """PUT an object; a `metadata.resourceVersion` that is not the newest any more is a conflict."""
        return await self._ask(Request("PUT", path, query, orjson.dumps(obj)))

    async def apply(
        self, path: str, obj: Object, *, manager: str = FIELD_MANAGER, force: bool = True, **query: str
    ) -> Object:
        """Server-side apply: `manager` comes to own the fields that the object has, and only these."""
        how = {"fieldManager": manager, "force": str(force).lower()}
        return await self._patch("application/apply-patch+yaml", path, obj, how | query)

    async def merge_patch(self, path: str, patch: Object, **query: str) -> Object:
        """Change the fields that a patch has; null takes one away (RFC 7386)."""
        return await self._patch("application/merge-patch+json", path, patch, query)

    async def json_patch(self, path: str, operations: Sequence[Object], **query: str) -> Object:
        """Carry out the operations (RFC 6902), all or none."""
        return await self._patch("application/json-patch+json", path, list(operations), query)

    async def delete(self, path: str, **query: str) -> None:
        """Delete an object; that it is absent already is no error."""
        try:
            await self._ask(Request("DELETE", path, query))
        except ApiError as error:
            if not error.is_not_found:
                raise

    async def pages(self, path: str, *, limit: int = 500, **query: str) -> AsyncGenerator[Page, None]:
        """List a collection in parts that are consistent with each other.

        Raises ApiError that `is_gone` when the rest is no longer to be had: it has to be begun again.
        """
        token = ""
        while True:
            page = await self.page(path, limit=limit, token=token, **query)
            yield page
            token = page.token
            if not token:
                return

    async def page(self, path: str, *, limit: int, token: str = "", **query: str) -> Page:
        """Read one part of a collection: the first, or the one that a page's `token` leads to."""
        place = {"continue": token} if token else {}
        request = Request("GET", path, {"limit": str(limit)} | query | place)
        content = await self._content(request)
        return _page(_loads(request, content), len(content))

    async def watch(self, path: str, resource_version: str, **query: str) -> AsyncGenerator[Event, None]:
        """Tell what changes after a resourceVersion, until the API server ends it, as it does after some minutes.

        It ends as well when the connection has been silent for longer than it can be: asking again shows what is
        wrong. Raises ApiError that `is_gone` when the resourceVersion is too old.
        """
        request = Request("GET", path, {"watch": "true", "resourceVersion": resource_version} | query)
        async with aclosing(self._transport.chunks(request)) as chunks:
            async for line in _lines(chunks):
                yield _event(request, line)

    async def _patch(self, content_type: str, path: str, patch: Any, query: dict[str, str]) -> Object:
        return await self._ask(Request("PATCH", path, query, orjson.dumps(patch), content_type))

    async def _ask(self, request: Request) -> Object:
        return _loads(request, await self._content(request))

    async def _content(self, request: Request) -> bytes:
        for tries_left in reversed(range(_TRIES)):
            try:
                return await self._transport.ask(request)
            except ApiError as error:
                if not (tries_left and _is_worth_another_try(request, error)):
                    raise
                await asyncio.sleep(error.retry_after or 0)
        raise AssertionError("the last try has returned or raised")


def _is_worth_another_try(request: Request, error: ApiError) -> bool:
    asked_to_wait = error.retry_after is not None and error.retry_after <= _LONGEST_WAIT
    return asked_to_wait and error.status in _BUSY and request.method in _IDEMPOTENT


def _loads(request: Request, content: bytes) -> Object:
    try:
        answer = orjson.loads(content)
    except orjson.JSONDecodeError:
        answer = None
    if not isinstance(answer, dict):
        words = "the answer is no JSON object; is this an API server?"
        raise ApiError(f"{request}: {words}", status=HTTPStatus.BAD_GATEWAY)
    return answer


def _page(answer: Object, size: int) -> Page:
    kind = str(answer.get("kind", ""))
    items = answer.get("items") or []
    for item in items:
        item.setdefault("apiVersion", answer.get("apiVersion", ""))
        item.setdefault("kind", kind.removesuffix("List"))
    metadata = answer.get("metadata") or {}
    return Page(
        items,
        metadata.get("resourceVersion", ""),
        kind,
        metadata.get("remainingItemCount") or 0,
        metadata.get("continue") or "",
        size,
    )


def _event(request: Request, line: bytes) -> Event:
    told = _loads(request, line)
    if told["type"] == "ERROR":
        raise of_status(str(request), told["object"])
    return Event(told["type"], told["object"])


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Put lines together, however long they are; one that is cut off at the end is left out."""
    parts: list[bytes] = []
    async for chunk in chunks:
        first, *more = chunk.split(b"\n")
        parts.append(first)
        for start in more:
            yield b"".join(parts)
            parts = [start]
