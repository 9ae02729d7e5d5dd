"""The objects at hand, of files or of a cluster, and what is known to be absent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from webhook.errors import DocumentErrors
from webhook.model.diagnosis import Diagnosis, Level, Remedy
from webhook.model.path import Path, walk
from webhook.model.request import Object
from webhook.model.result import Resource, Source
from webhook.model.webhook import CONFIGURATIONS, MUTATING, Webhook
from webhook.runs.doctor.dangers import INFRASTRUCTURE
from webhook.sources.formats.place import NoText, Place
from webhook.sources.manifests import Manifest
from webhook.sources.objects import NAME_LABEL, ObjectStore
from webhook.sources.written import Written


@dataclass(frozen=True, slots=True)
class Held:
    """One object; `manifest` says where it is written, None for an object of a cluster."""

    object: Object
    manifest: Manifest | None = None

    @property
    def resource(self) -> Resource:
        """Which object it is."""
        metadata = self.get("metadata")
        texts = {key: value for key, value in metadata.items() if isinstance(value, str)}
        api_version, kind = str(self.object.get("apiVersion")), str(self.object.get("kind"))
        return Resource(api_version, kind, texts.get("namespace", ""), texts.get("name", ""))

    def get(self, *path: str | int) -> dict[str, Any]:
        """Read a map of an object that may be broken; an empty one where there is none."""
        _, value = walk(self.object, path)
        return value if isinstance(value, dict) else {}

    def list(self, *path: str | int) -> list[dict[str, Any]]:
        """Read a list of maps, in the same way; what is no map is an empty one."""
        _, value = walk(self.object, path)
        return [each if isinstance(each, dict) else {} for each in value] if isinstance(value, list) else []

    def source(self, path: Path) -> Source:
        """Find where a field, or its nearest parent, is written. A line that may hold a Secret is not shown."""
        if self.manifest is None:
            return Source(str(self.resource))
        manifest, at = self.manifest, self.manifest.locate(path)
        source = Source(manifest.file, manifest.document, at.line, at.column, at.length)
        return source if "Secret" in manifest.source.text else replace(source, excerpt=manifest.line(at.line))

    def find(self, level: Level, check: str, at: Path, message: str, why: str, fix: Remedy | str) -> Diagnosis:
        """Say what is wrong with it."""
        remedy = fix if isinstance(fix, Remedy) else Remedy(fix)
        return Diagnosis(level, check, self.resource, self.source(at), at, message, why, remedy)


@dataclass(frozen=True, slots=True)
class Registered:
    """A webhook with the object that registers it, and its index there."""

    webhook: Webhook
    held: Held
    index: int

    @property
    def mutating(self) -> bool:
        """May it change objects: such webhooks are asked one after the other."""
        return self.held.resource.kind == MUTATING

    @property
    def path(self) -> Path:
        """Where it is in its object."""
        return "webhooks", self.index

    @property
    def namespace(self) -> str:
        """The namespace of the pods that answer, "" where nobody knows: a URL may lead to a Service all the same."""
        if self.webhook.service:
            return self.webhook.service.namespace
        host = self.webhook.url.partition("://")[2].partition("/")[0].partition(":")[0].split(".")
        return host[1] if len(host) > 2 and host[2] == "svc" else ""

    def find(self, level: Level, check: str, at: Path, message: str, why: str, fix: Remedy | str) -> Diagnosis:
        """Say what is wrong with it: the message goes on behind its name, and `at` is a path below it."""
        return self.held.find(level, check, self.path + at, f"`{self.webhook.name}` {message}", why, fix)


class Inventory:
    """What is at hand. `live`: it is a cluster's, so what is not there does not exist, except for kinds in `unknown`.

    In files an object that names no namespace is in whatever namespace is asked for, as `helm template` leaves it out.
    """

    def __init__(self, held: Iterable[Held], *, live: bool = False, unknown: Iterable[str] = ()) -> None:
        """Sort the objects by kind."""
        self.live = live
        self.unknown = frozenset(unknown)
        self._kinds: dict[str, list[Held]] = {}
        for each in held:
            self._kinds.setdefault(each.resource.kind, []).append(each)
        namespaces = [each.object for each in self.list("Namespace") if isinstance(each.object.get("metadata"), dict)]
        self.cluster = ObjectStore(
            [*(() if live else map(_of_cozystack, INFRASTRUCTURE)), *namespaces], closed_world=True
        )

    def list(self, kind: str, namespace: str = "") -> list[Held]:
        """Give all objects of a kind, in all namespaces when `namespace` is ""."""
        return [each for each in self._kinds.get(kind, []) if self._is_in(each, namespace)]

    def get(self, kind: str, namespace: str, name: str) -> Held | None:
        """Give an object, or None when it is not at hand."""
        return next((each for each in self.list(kind, namespace) if each.resource.name == name), None)

    def lacks(self, kind: str) -> bool:
        """Does an object of this kind that is not at hand not exist."""
        return self.live and kind not in self.unknown

    def registered(self) -> Iterator[Registered | DocumentErrors]:
        """Read the webhooks of every configuration; what is broken comes as its faults."""
        from webhook.sources.formats.webhook import WebhookConfiguration  # here: pydantic takes its time

        for held in (each for kind in CONFIGURATIONS for each in self.list(kind)):
            written = Written(held.object, _place(held))
            try:
                webhooks = written.check(WebhookConfiguration).build(written.place)
            except DocumentErrors as faults:
                yield faults
                continue
            for index, webhook in enumerate(webhooks):
                yield Registered(webhook, held, index)

    def _is_in(self, held: Held, namespace: str) -> bool:
        written = held.resource.namespace
        return not namespace or written == namespace or (not written and not self.live)


def _of_cozystack(name: str) -> Object:
    """Give a namespace as Cozystack's operator labels it (1.6: `internal/operator/package_reconciler.go`)."""
    labels = {NAME_LABEL: name, "cozystack.io/system": "true"}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def _place(held: Held) -> Place:
    if held.manifest is None:
        return Place(str(held.resource), NoText())
    return Place(held.manifest.file, held.manifest.source, held.manifest.prefix)
