"""The watch cache: what policies look up, kept here because a review cannot wait for the API server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

from webhook.cel.errors import NotKnown
from webhook.cel.needs import Needs
from webhook.cluster.client import Client
from webhook.cluster.discovery import Discovery
from webhook.cluster.faults import ApiError
from webhook.cluster.keep import Keep
from webhook.cluster.reflector import Pace, Reflector, State
from webhook.cluster.resources import NAMESPACES, Resource
from webhook.cluster.table import Table
from webhook.cluster.telling import Watching
from webhook.cluster.wants import RELEASE, Scope, Wants
from webhook.model.request import Object
from webhook.model.selector import LabelSelector

_NAMESPACES: Final = Scope(NAMESPACES.api_version, NAMESPACES.kind)
_NAME_LABEL: Final = "kubernetes.io/metadata.name"
_A_MOMENT: Final = 1.0
"""Seconds that a review may wait for the API server, which waits for the review."""


@dataclass(frozen=True, slots=True)
class Followed:
    """Objects that are followed: what is kept of them, and the task that keeps it current."""

    scope: Scope
    needs: Needs
    keep: Keep
    table: Table
    reflector: Reflector
    task: asyncio.Task[None]

    @property
    def known(self) -> bool:
        """Can the table answer."""
        return self.reflector.synced.is_set()


class WatchCache:
    """Answers the engine's lookups from copies that reflectors keep current. It is the engine's `Cluster`.

    `follow` before policies come into force, `trim` after others have ceased to be: between the two both can be
    judged. `release_changed` is called whenever a PackageSource or the operator's Deployment may say something else.
    """

    def __init__(
        self,
        client: Client,
        *,
        pace: Pace | None = None,
        release_changed: Callable[[], None] | None = None,
    ) -> None:
        """Follow nothing yet."""
        self._client = client
        self._pace = pace
        self._release_changed = release_changed
        self._discovery = Discovery(client)
        self._followed: dict[Scope, Followed] = {}
        self._coming: dict[Scope, Followed] = {}  # what keeps more than what is followed, and takes its place
        self._following = asyncio.Lock()
        self._ending: set[asyncio.Task[None]] = set()

    async def follow(self, wants: Wants) -> None:
        """Follow these too, and return once the API server has answered for each of them, be it with a refusal.

        What is followed already goes on. Where more of an object is wanted than is kept, the answers go on, too,
        until it has been listed again. While the API server cannot be reached this waits; when it is cancelled, what
        has begun goes on, for the next try.
        """
        async with self._following:
            for scope, needs in wants.items():
                self._want(scope, needs)
            for scope in wants:
                coming = self._coming.get(scope) or self._followed[scope]
                await coming.reflector.answered.wait()
            for scope in self._coming.keys() & wants.keys():
                self._end(self._followed[scope])
                self._followed[scope] = self._coming.pop(scope)

    def trim(self, wants: Wants) -> None:
        """Follow nothing but these any longer, and forget the rest."""
        for followed in (self._followed, self._coming):
            for scope in followed.keys() - wants.keys():
                self._end(followed.pop(scope))

    async def close(self) -> None:
        """Follow nothing any longer; the client stays open."""
        self.trim({})
        await asyncio.gather(*self._ending, return_exceptions=True)

    @property
    def synced(self) -> bool:
        """Has the API server answered for everything that is followed. What it forbids stays not known."""
        return bool(self._followed) and all(one.reflector.answered.is_set() for one in self._followed.values())

    def get(self, api_version: str, kind: str, namespace: str, name: str) -> Object | None:
        """Give an object, or None when it is known to be absent. Raises NotKnown."""
        scopes = (
            Scope(api_version, kind, *place) for place in (("", ""), (namespace, ""), ("", name), (namespace, name))
        )
        what = f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"
        return self._answering(scopes, what).table.get(namespace, name)

    def list(self, api_version: str, kind: str, namespace: str, selector: LabelSelector | None) -> list[Object]:
        """Give all objects of a kind, in all namespaces when `namespace` is "". Raises NotKnown."""
        scopes = (Scope(api_version, kind, place) for place in ("", namespace))
        what = f"every {kind} in namespace {namespace}" if namespace else f"every {kind}"
        return self._answering(scopes, what).table.list(namespace, selector)

    def namespace(self, name: str) -> Object:
        """Give a Namespace; one that has not been heard of yet has the label that all have. Raises NotKnown."""
        found = self._answering((_NAMESPACES,), f"Namespace {name}").table.get("", name)
        return found or {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name, "labels": {_NAME_LABEL: name}},
        }

    async def learn_namespace(self, name: str) -> None:
        """Ask for a Namespace that the watch has not told of yet, as for one that was made a moment ago.

        Whoever applies a Namespace and its content in one go is faster than the watch, and its labels decide.
        """
        namespaces = self._followed.get(_NAMESPACES)
        if namespaces is None or not namespaces.known or namespaces.table.get("", name) is not None:
            return
        with suppress(ApiError, TimeoutError):  # then it is as unknown as before
            async with asyncio.timeout(_A_MOMENT):
                found = await self._client.get(NAMESPACES.path(name=name))
            if namespaces.table.get("", name) is None:
                namespaces.table.put(namespaces.keep(found))

    @property
    def watching(self) -> tuple[Watching, ...]:
        """What is followed, to be told about."""
        return tuple(Watching(str(one.scope), one.reflector, one.table) for one in self._followed.values())

    def _answering(self, scopes: Iterable[Scope], what: str) -> Followed:
        """Find what can answer. Raises NotKnown that says why nothing can."""
        followed = [one for scope in scopes if (one := self._followed.get(scope))]
        for one in followed:
            if one.known:
                return one
        raise NotKnown(f"{what} ({_why(followed[0])})" if followed else what)

    def _want(self, scope: Scope, needs: Needs) -> None:
        """See to it that so much of these objects is kept, or about to be."""
        current = self._coming.get(scope) or self._followed.get(scope)
        if current is None:
            self._followed[scope] = self._begin(scope, needs)
        elif not current.needs.covers(needs):
            if overtaken := self._coming.get(scope):
                self._end(overtaken)
            self._coming[scope] = self._begin(scope, current.needs | needs)

    def _begin(self, scope: Scope, needs: Needs) -> Followed:
        keep = Keep(needs, secret=scope.api_version == "v1" and scope.kind == "Secret")
        tells_release = any(scope.covers(part) for part in RELEASE)
        table = Table(self._release_changed if tells_release else None)
        reflector = Reflector(
            self._client,
            partial(self._find, scope),
            namespace=scope.namespace,
            field_selector=f"metadata.name={scope.name}" if scope.name else "",
            keep=keep,
            store=table,
            pace=self._pace,
        )
        task = asyncio.create_task(reflector.run(), name=f"follow {scope}")
        return Followed(scope, needs, keep, table, reflector, task)

    async def _find(self, scope: Scope) -> Resource | None:
        return await self._discovery.find(scope.api_version, scope.kind)

    def _end(self, one: Followed) -> None:
        one.task.cancel()
        self._ending.add(one.task)
        one.task.add_done_callback(self._ending.discard)


def _why(one: Followed) -> str:
    """Say in a few words why nothing is known; the whole error is in the report, for those who run the cluster."""
    reflector = one.reflector
    if reflector.state is State.FORBIDDEN and reflector.resource:
        return f"cozyguard needs the verbs list and watch on {reflector.resource.full_name}"
    return reflector.state.value
