"""Edits as a diff of YAML, for people to read in a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import Any

from webhook.model.fragment import INDENT, entry, item, scalar
from webhook.model.path import Path
from webhook.model.result import Edit


def difference(edits: Iterable[Edit]) -> Iterator[str]:
    """Write edits as a diff: `- ` and `+ ` lines below the keys that lead to them.

    Keys that an edit shares with the one before it are written once.
    """
    shown: Path = ()
    for edit in edits:
        *parents, last = edit.path or ("",)
        common = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(parents, shown, strict=False))))
        for depth, step in enumerate(parents[common:], common):
            yield "  " + INDENT * depth + _head(step)
        shown = tuple(parents)
        for sign, values in (("- ", edit.before), ("+ ", edit.after)):
            for value in values:
                yield from (sign + INDENT * len(parents) + line for line in _edited(last, value))


def _head(step: str | int) -> str:
    return f"- # [{step}]" if isinstance(step, int) else f"{scalar(step)}:"


def _edited(step: str | int, value: Any) -> Iterator[str]:
    return item(value) if isinstance(step, int) else entry(f"{scalar(step)}:", value)
