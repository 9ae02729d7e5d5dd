"""A few objects that somebody waits for: followed by a watch, each change wakes whoever has to act."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress

from webhook.cluster.client import Client
from webhook.cluster.reflector import Pace, Reflector
from webhook.cluster.resources import Resource
from webhook.model.request import Object

_PACE = Pace(first=0.5, most=10.0, slow=10.0)
"""Seconds between tries; rights that were missing are found soon after they have been given."""


async def wait(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, so long at most, and reset it.

    Not `asyncio.wait_for`: before Python 3.12 it forgets that it was cancelled when the event comes just then.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    event.clear()


class Followed:
    """The objects of one namespace (or of none) that a selector picks, by name; `run` keeps them current."""

    def __init__(
        self,
        client: Client,
        resource: Resource,
        wake: Callable[[], None],
        *,
        namespace: str = "",
        name: str = "",
        labels: str = "",
    ) -> None:
        """Follow the one called `name`, or those with these labels (`a=b,c=d`). Nothing is asked yet."""
        self.resource = resource
        self.objects: dict[str, Object] = {}
        self._wake = wake
        self._reflector = Reflector(
            client,
            resource,
            namespace=namespace,
            field_selector=f"metadata.name={name}" if name else "",
            label_selector=labels,
            store=self,
            pace=_PACE,
        )
        self.run = self._reflector.run

    @property
    def known(self) -> bool:
        """Has everything been listed, and may still be."""
        return self._reflector.synced.is_set()

    @property
    def trouble(self) -> str:
        """What keeps it from being current, "" if nothing does."""
        return str(self._reflector.last_error or "")

    def replace(self, objects: Iterable[Object]) -> None:
        """Hold these and nothing else."""
        self.objects = {obj["metadata"]["name"]: obj for obj in objects}
        self._wake()

    def put(self, obj: Object) -> None:
        """Take in an object."""
        self.objects[obj["metadata"]["name"]] = obj
        self._wake()

    def remove(self, obj: Object) -> None:
        """Let an object go."""
        self.objects.pop(obj["metadata"]["name"], None)
        self._wake()
