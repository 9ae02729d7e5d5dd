"""Manifests: the Kubernetes objects of files, folders and standard input, with their places.

Nothing is raised for what people wrote: errors come between the objects, and all that can be read is.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, BinaryIO, Final

from webhook.errors import DocumentError
from webhook.model.path import Path, render
from webhook.model.request import Object
from webhook.sources import yaml
from webhook.sources.files import STDIN, Skipped, find, unreadable
from webhook.sources.lists import unfold
from webhook.sources.yaml import Document, Position, Source

STDIN_NAME: Final = "<stdin>"


@dataclass(frozen=True, slots=True)
class Manifest:
    """One object as it is written: `prefix` leads to it from the root of its document, `("items", 1)` in a List."""

    object: Object
    source: Document
    prefix: Path = ()

    @property
    def file(self) -> str:
        """The file's name, as it was given."""
        return self.source.file

    @property
    def document(self) -> int:
        """The index of its document in the file, from 0; empty documents count."""
        return self.source.index

    def locate(self, path: Path) -> Position:
        """Find where a field of the object is written, or its nearest parent that exists."""
        return self.source.locate(self.prefix + path)

    def line(self, number: int) -> str:
        """Give the text of a line of the file."""
        return self.source.source(number)


def read(paths: Iterable[str], stdin: BinaryIO | None = None) -> Iterator[Manifest | Skipped | DocumentError]:
    """Read everything that the paths stand for, one object at a time."""
    for source in sources(paths, stdin):
        if isinstance(source, Source):
            yield from manifests(source)
        else:
            yield source


def sources(
    paths: Iterable[str], stdin: BinaryIO | None = None, contents: Mapping[str, bytes] | None = None
) -> Iterator[Source | Skipped | DocumentError]:
    """Cut the files into documents, without reading what they say: each can be read by another process.

    `contents` are read in place of the files of these names.
    """
    for found in find(paths):
        if not isinstance(found, str):
            yield found
        elif contents and (name := STDIN_NAME if found == STDIN else found) in contents:
            yield from yaml.split(io.BytesIO(contents[name]), name)
        elif found == STDIN:
            yield from yaml.split(stdin or sys.stdin.buffer, STDIN_NAME)
        else:
            yield from _file(found)


def _file(file: str) -> Iterator[Source | DocumentError]:
    try:
        with FilePath(file).open("rb") as stream:
            yield from yaml.split(stream, file)
    except OSError as error:
        yield unreadable(file, error)


def manifests(source: Source) -> Iterator[Manifest | DocumentError]:
    """Read the objects of one document."""
    for document in yaml.parse(source):
        if isinstance(document, DocumentError):
            yield document
            continue
        for path, value in unfold(document.value):
            if problem := _problem(value):
                at = document.locate(path)
                yield DocumentError(document.file, at.line, at.column, render(path), problem)
            else:
                yield Manifest(value, document, path)


def _problem(value: Any) -> str:
    """Say why a value is no Kubernetes object; "" if it is one."""
    if not isinstance(value, dict):
        return f"got {_NAMES[type(value)]}, want a Kubernetes object"
    missing = [f"`{name}`" for name in ("apiVersion", "kind") if not value.get(name)]
    if missing:
        return f"got no {' and no '.join(missing)}, want a Kubernetes object"
    for name in ("apiVersion", "kind"):
        if not isinstance(value[name], str):
            return f"got {_NAMES[type(value[name])]} for `{name}`, want text"
    if not isinstance(value.get("metadata", {}), dict | None):
        return f"got {_NAMES[type(value['metadata'])]} for `metadata`, want a map"
    return ""


_NAMES: Final = {
    dict: "a map",
    list: "a list",
    str: "text",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    type(None): "null",
}
