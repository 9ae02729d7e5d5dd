"""Values as fragments of YAML, for people to read and to paste."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_NOT_TEXT: Final = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
INDENT: Final = "  "


def scalar(value: Any) -> str:
    """Write a value on one line: plain where YAML reads it back as text, else as JSON."""
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _NOT_TEXT:
        return value
    return json.dumps(value, ensure_ascii=False)


def block(value: Any) -> Iterator[str]:
    """Write a value as lines of YAML; empty collections and scalars take one line."""
    if isinstance(value, dict) and value:
        for key, entry_value in value.items():
            yield from entry(f"{scalar(key)}:", entry_value)
    elif isinstance(value, list) and value:
        for element in value:
            yield from item(element)
    else:
        yield scalar(value)


def entry(head: str, value: Any) -> Iterator[str]:
    """Write an entry of a map, its key in `head`."""
    if isinstance(value, dict | list) and value:
        yield head
        yield from (INDENT + line for line in block(value))
    else:
        yield f"{head} {scalar(value)}"


def item(value: Any) -> Iterator[str]:
    """Write an element of a list."""
    first, *rest = block(value)
    yield f"- {first}"
    yield from (INDENT + line for line in rest)
