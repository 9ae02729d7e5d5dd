"""Reports as objects of the cluster: written where they say something new, deleted where there is nothing to say."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

from webhook.cluster.client import Client
from webhook.cluster.discovery import Resources
from webhook.cluster.faults import ApiError
from webhook.cluster.rate import Rate
from webhook.cluster.resources import Resource
from webhook.errors import DocumentError, UsageError
from webhook.model.request import Object
from webhook.runs.audit.prepare import Asked, Ready
from webhook.runs.audit.targets import Target
from webhook.runs.audit.walk import Coverage

LABEL: Final = ("app.kubernetes.io/managed-by", "cozyguard")
DIGEST: Final = "cozyguard.io/digest"
"""The annotation that tells what a report says, but for its time: as long as it is the same, nothing is written."""

_Key = tuple[str, str]
"""Namespace and name."""


@dataclass(frozen=True, slots=True)
class _Known:
    """A report that is there: what it says, and the object that it is about."""

    resource: Resource
    digest: str
    about: tuple[str, str]


class Publisher:
    """Made by `connect`. Reports are `put`, then `sweep` deletes those that say what is so no longer.

    A failure ends nothing: it is in `faults`, one for all of its sort.
    """

    def __init__(self, client: Client, resources: dict[str, Resource], rate: Rate) -> None:
        """Know nothing yet; `resources` are those of the two kinds of the format."""
        self.written = self.deleted = self.unchanged = 0
        self._client, self._resources, self._rate = client, resources, rate
        self._known: dict[_Key, _Known] = {}
        self._held: set[_Key] = set()
        self._failed: dict[str, int] = {}

    @classmethod
    async def connect(cls, client: Client, api_version: str, kinds: Collection[str], rate: Rate) -> Publisher:
        """Read what is there. Raises UsageError when the kinds are not served, and ApiError."""
        served = await Resources.load(client)
        found = {kind: one for kind in kinds if (one := served.find(api_version, kind))}
        for kind in kinds:
            if kind not in found:
                raise UsageError(f"argument --report: the cluster serves no {kind} of {api_version}; install its CRDs")
        made = cls(client, found, rate)
        for resource in found.values():
            await made._read(resource)
        return made

    async def put(self, report: Object) -> None:
        """See to it that the cluster has this report; only what it says counts."""
        metadata = report["metadata"]
        key, digest = (metadata.get("namespace", ""), metadata["name"]), _digest(report)
        self._held.add(key)
        known = self._known.get(key)
        if known and known.digest == digest:
            self.unchanged += 1
            return
        marks = {"labels": dict([LABEL]), "annotations": {DIGEST: digest}}
        path = self._resources[report["kind"]].path(*key)
        await self._rate.turn()
        try:
            await self._client.apply(path, report | {"metadata": metadata | marks})
            self.written += 1
        except ApiError as error:
            self._fail("written", error)

    async def sweep(self, is_stale: Callable[[str, str, str], bool]) -> None:
        """Delete reports that were not put, if they are stale by namespace, and `apiVersion` and kind of the object."""
        for key, known in self._known.items():
            if key in self._held or not is_stale(key[0], *known.about):
                continue
            await self._rate.turn()
            try:
                await self._client.delete(known.resource.path(*key))
                self.deleted += 1
            except ApiError as error:
                self._fail("deleted", error)

    def words(self) -> str:
        """Say what has been done."""
        return f"reports: {self.written} written, {self.unchanged} unchanged, {self.deleted} deleted"

    def faults(self) -> list[DocumentError]:
        """Say what could not be done."""
        return [DocumentError("reports", message=f"{number} not {words}") for words, number in self._failed.items()]

    async def _read(self, resource: Resource) -> None:
        async for page in self._client.pages(resource.path(), labelSelector="=".join(LABEL)):
            for one in page.items:
                metadata, scope = one["metadata"], one.get("scope") or {}
                digest = (metadata.get("annotations") or {}).get(DIGEST, "")
                about = str(scope.get("apiVersion", "")), str(scope.get("kind", ""))
                self._known[metadata.get("namespace", ""), metadata["name"]] = _Known(resource, digest, about)

    def _fail(self, what: str, error: ApiError) -> None:
        """Count it; the names of objects in messages would make each of them another."""
        words = f"{what}: {error.reason or error}"
        self._failed[words] = self._failed.get(words, 0) + 1


def staleness(asked: Asked, audit: Ready, coverage: Coverage) -> Callable[[str, str, str], bool]:
    """Tell which reports say what is so no longer if this audit has not put them.

    Those of kinds that were looked at as a whole; and of kinds that no policy is about any longer, if it can be known
    that there are no others.
    """
    incomplete = {_about(one) for one in audit.targets if one not in coverage.complete}
    complete = set(map(_about, coverage.complete)) - incomplete
    knows_all = not (asked.kinds or audit.gaps or coverage.interrupted)

    def is_stale(namespace: str, api_version: str, kind: str) -> bool:
        about = api_version.rpartition("/")[0], kind
        if not audit.extent.has(*about, namespace):
            return False
        return about in complete or (knows_all and about not in incomplete)

    return is_stale


def _about(target: Target) -> tuple[str, str]:
    return target.resource.group, target.resource.kind


def _digest(report: Object) -> str:
    said = {key: value for key, value in report.items() if key != "metadata"}
    said["results"] = [{key: value for key, value in one.items() if key != "timestamp"} for one in report["results"]]
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
