"""Native policies for kubectl, as YAML or JSON; and what is not exported, for the person who reads along."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from webhook.model.fragment import block
from webhook.model.request import Object


class Note(Protocol):
    """What there is to say about an exported policy, or a part of it."""

    @property
    def policy(self) -> str: ...
    @property
    def part(self) -> str: ...
    @property
    def text(self) -> str: ...


def yaml_lines(objects: Iterable[Object]) -> Iterator[str]:
    """Write objects as documents of one YAML file."""
    for number, obj in enumerate(objects):
        if number:
            yield "---"
        yield from block(obj)


def json_lines(objects: Sequence[Object]) -> Iterator[str]:
    """Write objects as one List."""
    listed = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
    yield json.dumps(listed, ensure_ascii=False, indent=2)


def note_lines(notes: Iterable[Note]) -> Iterator[str]:
    """Say what is not exported, or decides otherwise then: policy, part, and why."""
    for note in notes:
        yield f"{note.policy}: {note.part}{' ' if note.part else ''}{note.text}"
