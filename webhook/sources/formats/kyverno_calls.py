"""Calls in the text of an expression, and other texts in their place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

_TEXT: Final = re.compile(r"""[rRbB]?('''|\"""|'|")(?:\\.|(?!\1).)*\1|//[^\n]*""", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Written:
    """A call: `name` is what the pattern found it by, `text` the whole of it."""

    name: str
    text: str
    arguments: list[str]


def masked(expression: str) -> str:
    """Blank out texts and comments, so that every other place stays what it was."""
    return _TEXT.sub(lambda found: re.sub(r"[^\n]", "_", found[0]), expression)


def replaced(expression: str, pattern: re.Pattern[str], write: Callable[[Written], str]) -> str:
    """Put what `write` makes of them in the place of calls; what comes after one stays where it is, if that fits.

    `pattern` matches up to the parenthesis, and its first group is the name. Calls in the arguments of others stay.
    """
    for start, end, call in reversed(list(_calls(expression, pattern))):
        made = write(call)
        rest = re.sub(r"[^\n]", " ", expression[start + len(made) : end])
        expression = expression[:start] + made + rest + expression[end:]
    return expression


def _calls(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, int, Written]]:
    """Find start and end of each call."""
    plain, position = masked(text), 0
    while call := pattern.search(plain, position):
        position, starts, depth = call.end(), [call.end()], 1
        while depth and position < len(plain):
            sign = plain[position]
            depth += (sign in "([{") - (sign in ")]}")
            position += 1
            if depth == 1 and sign == ",":
                starts.append(position)
        ends = [*(start - 1 for start in starts[1:]), position - 1]
        arguments = [text[start:end].strip() for start, end in zip(starts, ends, strict=True)]
        yield call.start(), position, Written(call[1], text[call.start() : position], arguments)
