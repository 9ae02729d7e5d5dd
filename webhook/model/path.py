"""Field paths, written one way everywhere: `spec.a.b[0].c`, `metadata.labels["a.b/c"]`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

Path = tuple[str | int, ...]
"""Keys and indexes from the object's root."""

_PLAIN = re.compile(r"[A-Za-z0-9_-]+")
_STEP = re.compile(r'(?:^|\.)([A-Za-z0-9_-]+)|\[(\d+)\]|(?:^|\.)?\["((?:[^"\\]|\\.)*)"\]')


def render(path: Iterable[str | int]) -> str:
    """Write a path: plain keys with dots, other keys quoted, indexes in brackets."""
    parts: list[str] = []
    for step in path:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif _PLAIN.fullmatch(step):
            parts.append(f".{step}" if parts else step)
        else:
            escaped = step.replace("\\", "\\\\").replace('"', '\\"')
            parts.append(f'["{escaped}"]')
    return "".join(parts)


def parse(text: str) -> Path:
    """Read a path back. Raises ValueError that shows where the text stops making sense."""
    steps: list[str | int] = []
    position = 0
    while position < len(text):
        match = _STEP.match(text, position)
        if not match:
            raise ValueError(f"cannot read `{text}` as a field path from `{text[position:]}` on")
        key, index, quoted = match.groups()
        if key is not None:
            steps.append(key)
        elif index is not None:
            steps.append(int(index))
        else:
            steps.append(re.sub(r"\\(.)", r"\1", quoted))
        position = match.end()
    return tuple(steps)


def pointer(path: Iterable[str | int]) -> str:
    """Write a path as a JSON Pointer (RFC 6901): `~` first, then `/`."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def unpoint(text: str) -> tuple[str, ...]:
    """Read a JSON Pointer back; an index stays text, as only the document tells it from a key."""
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in text.split("/")[1:])


def walk(value: Any, path: Iterable[str | int]) -> tuple[bool, Any]:
    """Follow a path: (True, what stands there), or (False, None) where it ends early."""
    for step in path:
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
            value = value[step]
        else:
            return False, None
    return True, value
