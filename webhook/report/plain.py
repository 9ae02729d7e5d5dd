"""Text that comes from files, made safe and measurable for a terminal.

A manifest must not be able to move the cursor, recolour the screen, reverse the reading direction or
hide characters: everything that prints as something else than itself is written as an escape.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

_UNPRINTABLE: Final = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
"""Unicode categories: control, format (direction marks), unassigned, private, surrogate, separators."""

ELLIPSIS: Final = "…"


def visible(text: str) -> str:
    r"""Escape what does not print as itself: a tab becomes `\t`, an escape character `\x1b`."""
    return text if text.isascii() and text.isprintable() else "".join(map(_visible, text))


def _visible(character: str) -> str:
    if unicodedata.category(character) in _UNPRINTABLE:
        return character.encode("unicode_escape").decode("ascii")
    return character


def width(text: str) -> int:
    """Measure in terminal columns: East Asian wide characters take two, combining ones none."""
    return len(text) if text.isascii() else sum(map(_width, text))


@lru_cache(4096)
def _width(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def shorten(text: str, columns: int) -> str:
    """Cut a text at so many columns; what is cut ends with `…`."""
    return text if width(text) <= columns else _head(text, columns - 1) + ELLIPSIS


def _head(text: str, columns: int) -> str:
    used = 0
    for end, character in enumerate(text):
        used += _width(character)
        if used > columns:
            return text[:end]
    return text


def window(text: str, start: int, end: int, columns: int) -> tuple[str, int, int]:
    """Cut a line so that `start` to `end` can be seen, and escape it for the terminal.

    Gives the visible text, the column at which the part begins and its width in columns; a part that
    is longer than the window is cut with it.
    """
    before = visible(text[max(0, start - columns - 1) : start])
    part = shorten(visible(text[start : min(end, start + columns)]), columns // 2)
    after = visible(text[end : end + columns + 1])
    room = columns - width(part)
    if width(before) + width(after) > room:
        before = _tail(before, max(room // 2, room - width(after)))
        after = shorten(after, room - width(before))
    return before + part + after, width(before), width(part)


def _tail(text: str, columns: int) -> str:
    if width(text) <= columns:
        return text
    kept = text[::-1]
    return ELLIPSIS + _head(kept, columns - 1)[::-1]
