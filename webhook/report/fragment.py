"""Values and edits as fragments of YAML, for people to read in a report."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import Any, Final

from webhook.model.path import Path
from webhook.model.result import Edit

_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_NOT_TEXT: Final = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
_INDENT: Final = "  "


def scalar(value: Any) -> str:
    """Write a value on one line: plain where YAML reads it back as text, else as JSON."""
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _NOT_TEXT:
        return value
    return json.dumps(value, ensure_ascii=False)


def block(value: Any) -> Iterator[str]:
    """Write a value as lines of YAML; empty collections and scalars take one line."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _entry(f"{scalar(key)}:", item)
    elif isinstance(value, list) and value:
        for item in value:
            yield from _item(item)
    else:
        yield scalar(value)


def _entry(head: str, value: Any) -> Iterator[str]:
    if isinstance(value, dict | list) and value:
        yield head
        yield from (_INDENT + line for line in block(value))
    else:
        yield f"{head} {scalar(value)}"


def _item(value: Any) -> Iterator[str]:
    first, *rest = block(value)
    yield f"- {first}"
    yield from (_INDENT + line for line in rest)


def difference(edits: Iterable[Edit]) -> Iterator[str]:
    """Write edits as a diff: `- ` and `+ ` lines below the keys that lead to them.

    Keys that an edit shares with the one before it are written once.
    """
    shown: Path = ()
    for edit in edits:
        *parents, last = edit.path or ("",)
        common = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(parents, shown, strict=False))))
        for depth, step in enumerate(parents[common:], common):
            yield "  " + _INDENT * depth + _head(step)
        shown = tuple(parents)
        for sign, values in (("- ", edit.before), ("+ ", edit.after)):
            for value in values:
                yield from (sign + _INDENT * len(parents) + line for line in _edited(last, value))


def _head(step: str | int) -> str:
    return f"- # [{step}]" if isinstance(step, int) else f"{scalar(step)}:"


def _edited(step: str | int, value: Any) -> Iterator[str]:
    return _item(value) if isinstance(step, int) else _entry(f"{scalar(step)}:", value)
