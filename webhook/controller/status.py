"""Writes the `status` of the policies and exceptions that are installed. The leader alone does.

It is written only where it becomes another one: the watch that tells of the write finds nothing more to say.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Final

from webhook.cluster.client import Client
from webhook.cluster.faults import ApiError, Unreachable
from webhook.cluster.resources import ADMISSION_POLICIES, POLICY_EXCEPTIONS, Resource
from webhook.controller.conditions import exception_status, policy_status, rules_of
from webhook.engine.compile import CompiledPolicy
from webhook.model.request import Object
from webhook.sources.installed import Installed

FIELD_MANAGER: Final = "cozyguard-status"

_RETRY: Final = 10.0
"""Seconds until what could not be written is tried again."""
_LOOK: Final = 60.0
"""Seconds after which it is looked again in any case: clocks are set, and an exception expires by the clock."""


@dataclass(frozen=True, slots=True)
class State:
    """What there is to tell about: all that is installed, and the policies from files that it stands beside.

    `objects` are those that are installed as they are now: what is in force may have been read from older ones, which
    had another status.
    """

    installed: Installed
    files: tuple[CompiledPolicy, ...]
    objects: tuple[Object, ...]


@dataclass(frozen=True, slots=True)
class _Told:
    """What was written last, and over which version of the object: a watch may still give that one."""

    version: str
    status: Object


class StatusWriter:
    """Keeps `status` in step; `failed` is told of each write that the API server has not taken."""

    def __init__(self, client: Client, failed: Callable[[ApiError], None]) -> None:
        """Start with nothing told."""
        self._client, self._failed = client, failed
        self._told: dict[str, _Told] = {}

    async def run(self, state: Callable[[], State], changed: asyncio.Event) -> None:
        """Write whenever `changed` is set or an exception expires, until cancelled."""
        while True:
            changed.clear()
            wait = await self.write(state(), datetime.now(UTC))
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await changed.wait()

    async def write(self, state: State, now: datetime) -> float:
        """Write what has become different; gives the seconds after which to look again."""
        self._told = {uid: self._told[uid] for uid in self._told.keys() & {_uid(obj) for obj in state.objects}}
        wait = min(_LOOK, _next_expiry(state, now))
        for resource, obj, status in self._wanted(state, now):
            try:
                await self._tell(resource, obj, status)
            except ApiError as error:
                if error.is_not_found:  # deleted: the watch will tell
                    continue
                wait = min(wait, _RETRY)
                if not error.is_conflict:  # it has changed: the watch will tell, but perhaps of the status alone
                    self._failed(error)
                if isinstance(error, Unreachable):
                    break
        return wait

    def _wanted(self, state: State, now: datetime) -> Iterator[tuple[Resource, Object, Object]]:
        """Give the objects whose status is to be written, each with its new one."""
        objects = {_spec_key(obj): obj for obj in state.objects}
        for resource, read, status in _statuses(state, now):
            obj = objects.get(_spec_key(read))
            if obj is None:  # it has changed, and is about to be read again
                continue
            before = self._before(obj)
            if (made := status(before=before)) != before:
                yield resource, obj, made

    def _before(self, obj: Object) -> Object:
        """Give the status that the object has, as far as it is known."""
        told = self._told.get(_uid(obj))
        if told and told.version == obj["metadata"].get("resourceVersion"):
            return told.status
        before: Object = obj.get("status", {})
        return before

    async def _tell(self, resource: Resource, obj: Object, status: Object) -> None:
        """Apply a status to this very version of an object: of a later one it may not be true. Raises ApiError."""
        metadata = {key: obj["metadata"][key] for key in ("name", "resourceVersion")}
        whole = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, "status": status}
        path = resource.path(name=metadata["name"], subresource="status")
        await self._client.apply(path, whole, manager=FIELD_MANAGER)
        self._told[_uid(obj)] = _Told(obj["metadata"]["resourceVersion"], status)


def _statuses(state: State, now: datetime) -> Iterator[tuple[Resource, Object, Callable[..., Object]]]:
    """Give each object as it was read, and what makes its new status of the one `before`."""
    files = {one.policy.name for one in state.files}
    for policy in state.installed.policies:
        replaces = policy.name in files
        yield ADMISSION_POLICIES, policy.object, partial(policy_status, policy, replaces=replaces, now=now)
    rules = rules_of(one.policy for one in state.installed.over(state.files))
    for exception in state.installed.exceptions:
        yield POLICY_EXCEPTIONS, exception.object, partial(exception_status, exception, rules, now=now)


def _next_expiry(state: State, now: datetime) -> float:
    """Give the seconds until the next exception expires."""
    exceptions = (one.in_force for one in state.installed.exceptions)
    left = [(one.expires_at - now).total_seconds() for one in exceptions if one and one.expires_at > now]
    return min(left, default=math.inf)


def _spec_key(obj: Object) -> tuple[str, int]:
    """Name what an object says: its status and other metadata may change beside it."""
    return _uid(obj), obj["metadata"]["generation"]


def _uid(obj: Object) -> str:
    uid: str = obj["metadata"]["uid"]
    return uid
