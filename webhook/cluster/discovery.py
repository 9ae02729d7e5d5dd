"""Which kinds an API server serves, and as which resources: aggregated discovery, two requests for everything."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator
from http import HTTPStatus
from typing import Final, Self

from webhook.cluster.client import Client
from webhook.cluster.faults import ApiError
from webhook.cluster.resources import Resource
from webhook.model.request import Object

_LIST: Final = "APIGroupDiscoveryList"
_ACCEPT: Final = ",".join(
    f"application/json;g=apidiscovery.k8s.io;v={version};as={_LIST}" for version in ("v2", "v2beta1")
)
_FRESH_SECONDS: Final = 5.0
"""How old an answer may be that several tasks share."""


class Resources:
    """What is served. `broken` names the group versions (`metrics.k8s.io/v1beta1`) whose own server does not answer."""

    def __init__(self, resources: Iterable[Resource], broken: Iterable[str] = ()) -> None:
        """Keep the order: of one kind, the version that the API server prefers comes first."""
        self.broken = tuple(broken)
        self._by_version: dict[tuple[str, str], Resource] = {}
        self._preferred: dict[tuple[str, str], Resource] = {}
        for each in resources:
            self._by_version.setdefault((each.api_version, each.kind), each)
            self._preferred.setdefault((each.group, each.kind), each)

    @classmethod
    async def load(cls, client: Client) -> Self:
        """Ask the API server. Raises ApiError; a broken aggregated API is none."""
        groups = [group for path in ("/api", "/apis") for group in await _groups(client, path)]
        return cls(
            (resource for group in groups for resource in _resources(group)),
            (api_version for group in groups for api_version in _broken(group)),
        )

    def find(self, api_version: str, kind: str) -> Resource | None:
        """Give the resource of a kind, in another version where this one is not served: they hold the same objects."""
        group = api_version.rpartition("/")[0]
        return self._by_version.get((api_version, kind)) or self._preferred.get((group, kind))

    def all(self) -> tuple[Resource, ...]:
        """Give every kind once, in the version that the API server prefers."""
        return tuple(self._preferred.values())

    def versions(self) -> Iterator[tuple[Resource, ...]]:
        """Give every kind in all of its versions, the one that the API server prefers first."""
        found: dict[tuple[str, str], list[Resource]] = {}
        for each in self._by_version.values():
            found.setdefault((each.group, each.kind), []).append(each)
        yield from map(tuple, found.values())

    def breaks(self, api_version: str) -> bool:
        """Is anything of the group not known, so that a kind that is not found may be served all the same."""
        group = api_version.rpartition("/")[0]
        return any(broken.rpartition("/")[0] == group for broken in self.broken)


class Discovery:
    """The kinds of one API server, asked for when somebody wants to know; many who want to know ask once."""

    def __init__(self, client: Client) -> None:
        """Ask nothing yet."""
        self._client = client
        self._lock = asyncio.Lock()
        self._known = Resources(())
        self._asked_at = float("-inf")

    async def find(self, api_version: str, kind: str) -> Resource | None:
        """Give the resource of a kind, or None when it is not served. Raises ApiError, also when that is not known."""
        async with self._lock:
            if time.monotonic() - self._asked_at > _FRESH_SECONDS:
                self._known = await Resources.load(self._client)
                self._asked_at = time.monotonic()
            known = self._known
        found = known.find(api_version, kind)
        if found is None and known.breaks(api_version):
            words = f"{kind}: the API `{api_version}` does not answer; see `kubectl get apiservices`"
            raise ApiError(words, status=HTTPStatus.SERVICE_UNAVAILABLE)
        return found


async def _groups(client: Client, path: str) -> list[Object]:
    answer = await client.get(path, accept=_ACCEPT)
    if answer.get("kind") != _LIST:
        words = f"GET {path}: no aggregated discovery; Kubernetes 1.27 or later is wanted"
        raise ApiError(words, status=HTTPStatus.NOT_ACCEPTABLE)
    return list(answer.get("items") or [])


def _resources(group: Object) -> Iterator[Resource]:
    name = group["metadata"].get("name") or ""
    for version in group["versions"]:
        for resource in version.get("resources") or []:
            if kind := (resource.get("responseKind") or {}).get("kind"):
                yield Resource(
                    name,
                    version["version"],
                    resource["resource"],
                    kind,
                    namespaced=resource.get("scope") == "Namespaced",
                    verbs=frozenset(resource.get("verbs") or ()),
                )


def _broken(group: Object) -> Iterator[str]:
    for version in group["versions"]:
        if version.get("freshness") == "Stale":
            yield f"{group['metadata']['name']}/{version['version']}"
