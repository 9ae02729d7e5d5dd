"""Two catalogue entries → the facts that differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from webhook.model.path import Path
from webhook.model.release import Release
from webhook.model.result import Edit

_PARTS: Final = ("gpu", "packages")
"""What an entry says of its release; the rest says where it was read."""


def changes(before: Release, after: Release) -> Iterator[Edit]:
    """Yield every fact that is new, gone or other, maps key by key and lists as a whole."""
    for part in _PARTS:
        yield from _changes(before.facts[part], after.facts[part], (part,))


def _changes(before: dict[str, Any], after: dict[str, Any], path: Path) -> Iterator[Edit]:
    for key in dict.fromkeys((*before, *after)):
        here = (*path, key)
        if key not in before:
            yield Edit(here, (), (after[key],))
        elif key not in after:
            yield Edit(here, (before[key],))
        elif isinstance(before[key], dict) and isinstance(after[key], dict):
            yield from _changes(before[key], after[key], here)
        elif before[key] != after[key]:
            yield Edit(here, (before[key],), (after[key],))
