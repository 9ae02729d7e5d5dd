"""What the documents at hand tell about the rest of the cluster."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from webhook.errors import DocumentError, DocumentErrors
from webhook.model.release import Minor, Release
from webhook.model.request import Object
from webhook.runs.inputs import Piece
from webhook.sources import releases, yaml
from webhook.sources.files import unreadable
from webhook.sources.lists import unfold
from webhook.sources.manifests import Manifest, manifests
from webhook.sources.objects import ObjectStore
from webhook.sources.yaml import Source

ALWAYS: Final = frozenset({releases.PACKAGE_SOURCE, "Namespace", "CustomResourceDefinition"})
"""Kinds that say something about other objects, whatever policies look up."""


@dataclass(frozen=True, slots=True)
class World:
    """The other objects, the release with the PackageSources at hand laid over it, and what to say about it."""

    store: ObjectStore
    release: Release
    remarks: tuple[DocumentError, ...] = ()


def survey(
    pieces: Iterable[Piece],
    kinds: Iterable[str],
    wanted: Minor | None,
    *,
    state: str | None = None,
    closed_world: bool = False,
    namespace: str = "default",
) -> World:
    """Read the objects that others may depend on, and find the release.

    Raises DocumentErrors when the cluster state is broken, UsageError for a release that is not known.

    Faults of the pieces are passed over: whoever judges the objects meets them again.
    """
    given = list(_of_kinds(pieces, ALWAYS | set(kinds)))
    known = _documents(state) if state else []
    store = ObjectStore(given, state=known, closed_world=closed_world, namespace=namespace)
    every = [*given, *(each for value in known for _, each in unfold(value) if isinstance(each, dict))]
    release, warning = releases.in_force(wanted, store, filter(releases.is_package_source, every))
    return World(store, release, (DocumentError("release", message=warning),) if warning else ())


def objects_of(file: str) -> list[Object]:
    """Read the objects of a file, such as those of `--old`. Raises DocumentErrors."""
    return [each for value in _documents(file) for _, each in unfold(value) if isinstance(each, dict)]


def _of_kinds(pieces: Iterable[Piece], kinds: Iterable[str]) -> Iterator[Object]:
    """Read only the documents in whose text one of the kinds is named."""
    named = re.compile(rf"kind[\"']?\s*:\s*[\"']?(?:{'|'.join(map(re.escape, kinds))})")
    wanted = set(kinds)
    for piece in pieces:
        if isinstance(piece, Source) and named.search(piece.text):
            for each in manifests(piece):
                if isinstance(each, Manifest) and each.object["kind"] in wanted:
                    yield each.object


def _documents(file: str) -> list[Object]:
    try:
        content = Path(file).read_bytes()
    except OSError as error:
        raise DocumentErrors([unreadable(file, error)]) from None
    return [document.value for document in yaml.read(content, file)]
