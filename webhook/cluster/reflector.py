"""Keeps a copy of a collection in step with the API server: list, watch, and begin again when that fails."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from enum import Enum
from http import HTTPStatus
from typing import Final, Protocol

from webhook.cluster.client import Client, Page
from webhook.cluster.faults import ApiError, Unreachable
from webhook.cluster.resources import Resource
from webhook.model.request import Object

Keep = Callable[[Object], Object]
"""What is stored of an object."""

Find = Callable[[], Awaitable[Resource | None]]
"""Which resource it is, None when it is not served now. Raises ApiError."""

_WATCH_SECONDS: Final = (300, 600)
"""How long a watch may last; somewhere between, so that those of a restarted API server do not end together."""
_TOO_SHORT_SECONDS: Final = 1.0
"""A watch that ends sooner and told nothing is a failure, not the API server's wish to be asked again."""
_ENOUGH_FAILURES: Final = 5
"""So often may an API server fail to answer about a kind before nobody waits for it any more."""
_AT_ONCE: Final = 50
"""Objects that are pruned in one go: reviews wait for no more than these."""

_KINDS: Final[Mapping[int, str]] = {
    HTTPStatus.GONE: "expired",
    HTTPStatus.FORBIDDEN: "forbidden",
    HTTPStatus.NOT_FOUND: "not-served",
}


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds before the next try: `first`, then twice as long each time up to `most`, each with jitter.

    `slow` is for what only people can change: permissions, and a resource that is not served.
    """

    first: float = 1.0
    most: float = 30.0
    slow: float = 30.0

    def after(self, error: ApiError, failures: int) -> float:
        """Give the seconds to wait after so many failures in a row."""
        if error.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND):
            return self.slow
        longest = min(self.most, self.first * 2 ** min(failures - 1, 16))
        return max(error.retry_after or 0.0, random.uniform(longest / 2, longest))  # noqa: S311 - no secret


class State(Enum):
    """What is known about the collection; the value is how it is reported."""

    UNKNOWN = "not listed yet"
    SYNCED = "synced"
    NOT_SERVED = "not served"
    FORBIDDEN = "forbidden"


class Store(Protocol):
    """Where the objects go, such as a Table."""

    def replace(self, objects: Iterable[Object], /) -> None:
        """Hold these and nothing else."""

    def put(self, obj: Object, /) -> None:
        """Add an object, or put it in the place of its older state."""

    def remove(self, obj: Object, /) -> None:
        """Take an object out."""


def whole(obj: Object) -> Object:
    """Store the object as it is."""
    return obj


class Reflector:
    """Fills a store with the objects of a resource and keeps it current, for as long as `run` runs.

    While the API server cannot be reached the store stays as it was. When it forbids the list, what was known is
    given up. A resource that is not served has no objects.

    `synced` is set while the store answers for the collection; `answered` from the first time that the API server
    has said anything about it, be it no. `heard_at` is the monotonic time of the last sign of life; `lists`, `watches`
    and `errors` (by kind) count up.
    """

    def __init__(
        self,
        client: Client,
        resource: Resource | Find,
        *,
        namespace: str = "",
        field_selector: str = "",
        label_selector: str = "",
        keep: Keep = whole,
        store: Store,
        pace: Pace | None = None,
    ) -> None:
        """Ask nothing yet. A namespace and selectors narrow down what is listed and watched."""
        self._client = client
        self._find = _always(resource) if isinstance(resource, Resource) else resource
        self._namespace = namespace
        self._selectors = {"fieldSelector": field_selector, "labelSelector": label_selector}
        self._keep = keep
        self._store = store
        self._pace = pace or Pace()
        self._path = ""
        self._version = ""
        self._failures = 0
        self.resource: Resource | None = None
        self.state = State.UNKNOWN
        self.synced = asyncio.Event()
        self.answered = asyncio.Event()
        self.last_error: ApiError | None = None
        self.heard_at = time.monotonic()
        self.lists = 0
        self.watches = 0
        self.errors: Counter[str] = Counter()

    async def run(self) -> None:
        """Follow the collection for ever."""
        while True:
            try:
                if not self._version:
                    await self._list()
                await self._watch()
            except ApiError as error:
                await self._fail(error)
            except Exception as error:  # noqa: BLE001 - an answer that no API server gives must not end the copy unseen
                self._version = ""
                await self._fail(ApiError(f"{self._path}: an answer that cannot be read ({type(error).__name__})"))

    async def _fail(self, error: ApiError) -> None:
        self._note(error)
        await asyncio.sleep(self._pace.after(error, self._failures))

    async def _list(self) -> None:
        """List everything in pages, consistent with each other, and swap it in as a whole."""
        self.resource = await self._find()
        if self.resource is None:
            raise ApiError("the API server does not serve this kind", status=HTTPStatus.NOT_FOUND)
        self._path = self.resource.path(self._namespace)
        self.lists += 1
        objects: list[Object] = []
        version = ""
        async with aclosing(self._pages()) as pages:
            async for page in pages:
                version = page.resource_version
                for start in range(0, len(page.items), _AT_ONCE):
                    objects += map(self._keep, page.items[start : start + _AT_ONCE])
                    await asyncio.sleep(0)
                page.items.clear()  # or it would be there still while the next one is read
        self._store.replace(objects)
        self._version = version
        self.heard_at = time.monotonic()
        self.last_error = None
        self._become(State.SYNCED)

    def _pages(self) -> AsyncGenerator[Page, None]:
        return self._client.pages(
            self._path,
            fieldSelector=self._selectors["fieldSelector"],
            labelSelector=self._selectors["labelSelector"],
        )

    async def _watch(self) -> None:
        """Take in what changes, until the API server ends the watch; the next one goes on from there."""
        self.watches += 1
        began = time.monotonic()
        query = {
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(random.randint(*_WATCH_SECONDS)),  # noqa: S311 - no secret
        }
        heard = False
        async with aclosing(self._client.watch(self._path, self._version, **query, **self._selectors)) as events:
            async for event in events:
                heard = True
                self._take(event.type, event.object)
        if not heard and time.monotonic() - began < _TOO_SHORT_SECONDS:
            raise Unreachable(f"GET {self._path}: the watch ended as soon as it had begun")
        self._heard()

    def _take(self, type_: str, obj: Object) -> None:
        match type_:
            case "ADDED" | "MODIFIED":
                self._store.put(self._keep(obj))
            case "DELETED":
                self._store.remove(obj)
        self._version = obj["metadata"]["resourceVersion"]
        self._heard()

    def _heard(self) -> None:
        self.heard_at = time.monotonic()
        self.last_error = None
        self._failures = 0

    def _note(self, error: ApiError) -> None:
        """Draw the conclusions of a failure: what is known no longer, and where to begin again."""
        self._failures += 1
        self.last_error = error
        self.errors[_kind(error)] += 1
        if error.is_gone:
            self._version = ""
        elif error.is_forbidden or error.is_not_found:
            self._version = ""
            self._store.replace(())
            self._become(State.FORBIDDEN if error.is_forbidden else State.NOT_SERVED)
        elif self._failures >= _ENOUGH_FAILURES and not isinstance(error, Unreachable):
            self.answered.set()

    def _become(self, state: State) -> None:
        self.state = state
        self.answered.set()
        if state is State.FORBIDDEN:
            self.synced.clear()
        else:
            self.synced.set()


def _always(resource: Resource) -> Find:
    async def find() -> Resource:
        return resource

    return find


def _kind(error: ApiError) -> str:
    """Name the kind of failure for a metric: one of a few."""
    if isinstance(error, Unreachable):
        return "unreachable"
    return _KINDS.get(error.status, str(int(error.status)))
