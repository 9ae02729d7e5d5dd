"""Where the parts of a document begin and end on the page: what an editor has to know beside the tree."""

from __future__ import annotations

import re
from typing import Final

from webhook.sources.yaml.tree import Mapping, Node, Scalar, Sequence

_GAP: Final = re.compile(r"(?:[ \t\r\n]+(?:#[^\n]*)?)*")
"""Spaces, ends of lines and comments; a `#` begins a comment only behind one of the others."""

_PROPERTIES: Final = re.compile(r"(?:[&!]\S*\s+)*")


def line_start(text: str, offset: int) -> int:
    """Give the offset at which a line begins."""
    return text.rfind("\n", 0, offset) + 1


def line_end(text: str, offset: int) -> int:
    """Give the offset of the end of a line: that of its line break, which is not part of it."""
    found = text.find("\n", offset)
    return len(text) if found < 0 else found


def column(text: str, offset: int) -> int:
    """Count the characters before it on its line."""
    return offset - line_start(text, offset)


def skip(text: str, offset: int) -> int:
    """Pass over spaces, line breaks and comments."""
    found = _GAP.match(text, offset)
    return found.end() if found else offset


def commented(text: str, start: int, end: int) -> bool:
    """Is there a comment in a stretch that holds nothing else but spaces and punctuation."""
    return "#" in text[start:end]


def end(text: str, node: Node) -> int:
    """Give the offset behind the last character of a node.

    The parser ends what is written without brackets where the next token begins, with all comments between. Of a block
    scalar that keeps its line breaks (`|+`) the last one is left outside, as with the others.
    """
    if isinstance(node, Mapping) and not node.flow:
        return end(text, node.pairs[-1][1])
    if isinstance(node, Sequence) and not node.flow:
        return end(text, node.items[-1])
    if isinstance(node, Scalar) and node.block:
        head = text[node.start : line_end(text, node.start)].partition("#")[0]
        return node.end - 1 if "+" in head else node.start + len(text[node.start : node.end].rstrip())
    return node.end


def colon(text: str, key: Node) -> int | None:
    """Give the offset behind the colon of a key; None where there is none, as in `{a}` and behind some `? a`."""
    found = skip(text, key.end)
    return found + 1 if text.startswith(":", found) else None


def dash(text: str, node: Sequence, index: int) -> int:
    """Give the offset of the dash before an item of a list without brackets."""
    if index == 0:
        found = _PROPERTIES.match(text, node.start)
        return skip(text, found.end() if found else node.start)
    return skip(text, end(text, node.items[index - 1]))
