"""The texts on which a fast YAML 1.2 reader and kubectl agree.

A scan that may say no too often, never too seldom: it looks for whatever the two could read differently, wherever it
could be a token of its own. A property test (`tests/unit/sources/yaml/test_agreement.py`) holds the two
equal on what it lets pass.
Every search begins with a literal or a small set of characters: these are what Python's `re` finds fastest.
"""

from __future__ import annotations

import re
from typing import Final

_SAFE_NUMBER: Final = r"(?:0|-?[1-9][0-9]{0,17}|-?(?:0|[1-9][0-9]{0,7})\.[0-9]{0,6}[1-9]|[0-9]+(?:\.[0-9]+){2,})"
"""Whole numbers of up to 18 digits, fractions that do not end in zero, and versions or addresses."""

# A word or number that is no text to one of them, with whatever may end it; possessive, as stepping back costs most.
_TOKEN: Final = (
    r"(?:[yYnN](?:es|ES|[oO])?|[oO](?:n|N|ff|FF)|[-+]?\.[a-zA-Z_]+"
    rf"|(?=[-+._0-9])(?!{_SAFE_NUMBER} *+(?:\Z|[,\]}}#\n]))[-+._]*[0-9][0-9a-fA-F_.xXoO+:\-]*)"
    r" *+(?:\Z|[,\]}:#\n])"
)
# A key that is no text, or empty. Values of these words are the same to both.
_KEY: Final = r"(?:[tT](?:rue|RUE)|[fF](?:alse|ALSE)|[nN](?:ull|ULL)|~)? *:"
_TOKENS: Final = tuple(re.compile(f"{before} *+(?:{_TOKEN}|{_KEY})") for before in (":", "- ", "\n", r"[\[{,]"))
_INDICATOR: Final = re.compile(r"(?:\A|[\s\[{,:-])[&*!?%]")
_ESCAPE: Final = re.compile(r'\\[^\\"n]')
_ODD_COLONS: Final = tuple(map(re.compile, (r"\] *:", r"\} *:", r":[,\]}]")))
"""A key that is a list or map, and a colon that ends a plain text in brackets."""
_BLOCK: Final = re.compile("[|>]")
_HEADER: Final = re.compile(r"[-+0-9]* *(?:#[^\n]*)?\n")
_INDENT: Final = re.compile(r" *(?=[^ \n])")
_RARE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_DEEP: Final = re.compile(r"\n[ -]{70}")
"""So far to the right nests so deep that a recursive reader could exhaust its stack."""


def readers_agree(text: str) -> bool:
    """Do kubectl and a YAML 1.2 reader without dates read the same from this text, if they can read it at all."""
    text = f"\n{text}"
    return not (
        "\t" in text
        or "<<" in text
        or "\n..." in text
        or (any(mark in text for mark in "&*!?%") and _INDICATOR.search(text))
        or ("?" in text and ("[" in text or "{" in text))
        or _ESCAPE.search(text)
        or _DEEP.search(text)
        or _RARE.search(text)
        or any(pattern.search(text) for pattern in _ODD_COLONS)
        or any(pattern.search(text) for pattern in _TOKENS)
        or (("|" in text or ">" in text) and _has_odd_block(text))
    )


def _has_odd_block(text: str) -> bool:
    """Is there a `|` or `>` that begins no block scalar, or one that may be without content."""
    for mark in _BLOCK.finditer(text):
        line = text[text.rfind("\n", 0, mark.start()) + 1 : mark.start()]
        before = line.rstrip(" ")
        if before and before[-1] not in ":-[{,":
            continue
        header = _HEADER.match(text, mark.end())
        if not header or "[" in line or "{" in line:
            return True
        content = len(line) - len(line.lstrip(" -"))
        parent = before.rindex("-") if before.endswith("-") and content == len(line) else content
        indent = _INDENT.match(text, header.end())
        if not indent or len(indent[0]) <= parent:
            return True
    return False
