"""`--schemas=PATH`: files that say how kinds are built.

CustomResourceDefinitions, and OpenAPI v3 documents as `kubectl get --raw /openapi/v3/apis/GROUP/VERSION` has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from webhook.admission.openapi import describe
from webhook.admission.structures import Schema, Structure, defined, described
from webhook.errors import DocumentError, DocumentErrors
from webhook.model.request import GroupVersionKind, Object
from webhook.sources import yaml
from webhook.sources.files import find, unreadable
from webhook.sources.lists import unfold
from webhook.sources.yaml import Document

_WANTED: Final = (
    "want a CustomResourceDefinition, or an OpenAPI v3 document as `kubectl get --raw /openapi/v3/…` has it"
)


@dataclass(frozen=True, slots=True)
class Given:
    """What files say: definitions by group and kind, and types of OpenAPI documents."""

    definitions: Mapping[tuple[str, str], Object] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, Schema] = field(default_factory=dict)

    def __or__(self, other: Self) -> Given:
        """Put both together; what the other says counts more."""
        return Given(
            {**self.definitions, **other.definitions},
            {**self.kinds, **other.kinds},
            {**self.types, **other.types},
        )

    def named(self) -> Iterator[GroupVersionKind]:
        """Give the kinds that these files have."""
        for (group, kind), definition in self.definitions.items():
            yield from (GroupVersionKind(group, one["name"], kind) for one in definition["spec"]["versions"])
        for name in self.kinds:
            api_version, _, kind = name.rpartition("/")
            yield GroupVersionKind.of({"apiVersion": api_version, "kind": kind})

    def structure(self, kind: GroupVersionKind) -> Structure | None:
        """Give the structure of a kind; None where these files do not have it."""
        if definition := self.definitions.get((kind.group, kind.kind)):
            return defined(definition, kind.version)
        name = self.kinds.get(f"{kind.api_version}/{kind.kind}")
        return described(self.types[name], self.types) if name else None


def read(paths: Iterable[str]) -> Given:
    """Read the schemas of files and folders. Raises DocumentErrors with every fault of every file."""
    errors: list[DocumentError] = []
    definitions: dict[tuple[str, str], Object] = {}
    documents: list[Mapping[str, Schema]] = []
    for document in _documents(paths, errors):
        match document.value:
            case {"components": {"schemas": dict(schemas)}}:
                documents.append(schemas)
            case value:
                errors += _take(document, value, definitions)
    if errors:
        raise DocumentErrors(errors)
    found = describe(documents)
    return Given(definitions, found.kinds, found.types)


def _documents(paths: Iterable[str], errors: list[DocumentError]) -> Iterator[Document]:
    for file in find(paths):
        if isinstance(file, DocumentError):
            errors.append(file)
        elif isinstance(file, str):
            try:
                yield from yaml.read(Path(file).read_bytes(), file)
            except DocumentErrors as faults:
                errors += faults
            except OSError as error:
                errors.append(unreadable(file, error))


def _take(document: Document, value: Any, definitions: dict[tuple[str, str], Object]) -> Iterator[DocumentError]:
    for path, each in unfold(value):
        match each:
            case {
                "kind": "CustomResourceDefinition",
                "spec": {"group": str(group), "names": {"kind": str(kind)}, "versions": list()},
            }:
                definitions[group, kind] = each
            case _:
                at = document.locate((*path, "kind"))
                yield DocumentError(document.file, at.line, at.column, "", _WANTED)
