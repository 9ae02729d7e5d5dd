"""Cuts an expression into parts that the CEL library can take one after the other.

Its parser goes 32 levels deep, Kubernetes' 250; and there are forms whose type its checker cannot know: `sortBy`,
`has(variables.x)`, `variables.?x`. Each part has the text of the expression up to its own end, blank where it is not
the part's, so that every position is that of the whole; a name of the same length stands in it for each part inside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from webhook.cel.extent import BRACKETS, tokens

_HEIGHT: Final = 12
"""How many levels a part has at most: a level here can be several to the library's parser."""

_LIMIT: Final = 250
"""How many levels an expression has at most in Kubernetes."""

_LEVELS: Final = {
    sign: level
    for level, signs in enumerate(("||", "&&", "< <= > >= == != in", "+ -", "* / %"))
    for sign in signs.split()
}
"""The binary operators, by how strongly they bind."""

_JUNCTIONS: Final = ("||", "&&")
"""What the parser makes flat: a chain of them is one level."""

_ONE_VARIABLE: Final = frozenset({"map", "filter", "sortBy", "optMap", "optFlatMap"})
_TWO_VARIABLES: Final = frozenset(
    {"all", "exists", "existsOne", "exists_one", "transformList", "transformMap", "transformMapEntry"}
)
_ENDS: Final = (",", ":", *BRACKETS.values())
_NAME: Final = re.compile(r"[A-Za-z_]\w*")
_LAZY: Final = ("variables", "lookups")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an expression; `name` stands for it in the parts around it.

    `kind` is `presence` for `has(variables.x)`, with `opening` the offset of its parenthesis, and `step` for
    `variables.?x`; of both `text` has `variables.x` alone. `bound` are the loop variables that the part may read.
    """

    name: str
    text: str
    bound: frozenset[str] = frozenset()
    kind: str = ""
    opening: int = 0


def parts(text: str) -> tuple[Part, ...]:
    """Cut a text, innermost parts first, the whole last; a text that cannot be read is one part."""
    outline = _Outline(text)
    try:
        outline.read()
    except (IndexError, RecursionError):  # no expression, or deeper than can be told: the library finds words for it
        outline = _Outline(text)
    return (*outline.parts, Part("", outline.text))


class _Outline:
    """Reads an expression as CEL's grammar does, for its extent and its height only."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.parts: list[Part] = []
        self._heights: dict[str, int] = {}
        self._tokens = [*tokens(text), (len(text), len(text), "")]
        self._at = 0
        self._bound: frozenset[str] = frozenset()
        self._kept: set[int] = set()
        self._prefix = next(prefix for prefix in _prefixes() if prefix not in text)

    def read(self) -> None:
        """Read the text to its end. Raises IndexError when it is no expression."""
        self._expression()
        if self._sign:
            raise IndexError(self._at)

    def _expression(self) -> int:
        """Read `a ? b : c` or less, and give its height."""
        start = self._at
        height = self._binary(0)
        if self._take("?"):
            then = self._binary(0)
            self._take(":")
            height = 1 + max(height, then, self._expression())
        return self._cut(start, height)

    def _binary(self, level: int) -> int:
        start = self._at
        height = self._unary()
        while (own := _LEVELS.get(self._sign, -1)) >= level:
            flat = self._next() in _JUNCTIONS
            right = self._binary(own + 1)
            height = self._cut(start, max(height, right + 1) if flat else 1 + max(height, right))
        return height

    def _unary(self) -> int:
        start = self._at
        while self._sign in ("!", "-"):
            self._at += 1
        height = self._member()
        return self._cut(start, height + (self._at > start and self._tokens[start][2] in ("!", "-")))

    def _member(self) -> int:
        start = self._at
        height = self._primary()
        while self._sign in (".", "[", "{"):
            opener, name = self._next(), ""
            if opener == ".":
                optional, name = self._take("?"), self._next()
                if optional and self._at == start + 4 and self._tokens[start][2] in _LAZY:
                    height = self._cut(start, height, "step")
                    continue
                inner = self._arguments(name) if self._take("(") else 0
            else:
                inner = self._items(BRACKETS[opener])
            height = self._cut(start, 1 + max(height, inner), "sort" if name == "sortBy" else "")
        return height

    def _primary(self) -> int:
        start, word = self._at, self._next()
        if word in BRACKETS:
            return self._cut(start, 1 + self._items(BRACKETS[word]))
        if word == ".":
            word = self._next()
        if not _NAME.fullmatch(word):
            return 1
        self._at = self._structure(self._at)
        if not self._take("("):
            return 1
        if word != "has":
            return 1 + self._arguments(word)
        first, dot, _, closing = (sign for _, _, sign in self._tokens[self._at : self._at + 4])
        if first in _LAZY and dot == "." and closing == ")":
            self._at += 4
            return self._cut(start, 1, "presence")
        height = self._item(kept=True)
        return 1 + max(height, self._items(")"))

    def _structure(self, at: int) -> int:
        """Find where the name of a message ends that is made here: `Object.spec` of `Object.spec{…}`."""
        after = at
        while self._tokens[after][2] == "." and _NAME.fullmatch(self._tokens[after + 1][2]):
            after += 2
        return after if self._tokens[after][2] == "{" else at

    def _arguments(self, name: str) -> int:
        outer = self._bound
        at = self._at
        for _ in range((name in _ONE_VARIABLE) + 2 * (name in _TWO_VARIABLES)):
            if _NAME.fullmatch(self._tokens[at][2]) and self._tokens[at + 1][2] == ",":
                self._bound |= {self._tokens[at][2]}
                at += 2
        height = self._items(")")
        self._bound = outer
        return height

    def _items(self, closing: str) -> int:
        height = 0
        while not self._take(closing):
            optional = self._take("?")
            height = max(height, self._item(optional))
            if self._take(":"):
                height = max(height, self._item(optional))
            if not self._take(",") and self._sign != closing:
                raise IndexError(self._at)
        return height

    def _item(self, kept: bool) -> int:
        """Read an element; `kept` says that its form or its type matters, which the name of a part would hide."""
        if kept:
            self._kept.add(self._at)
        return self._expression()

    def _cut(self, first: int, height: int, kind: str = "") -> int:
        """Make what has been read since the token `first` a part, where that has to be; give its height."""
        start, end = self._tokens[first][0], self._tokens[self._at - 1][1]
        is_kept = first in self._kept and self._sign in _ENDS
        if (height < _HEIGHT and not kind) or is_kept:
            return height
        name = f"{self._prefix}{len(self.parts)}"
        hole = re.search(rf"[^\n]{{{len(name)}}}", self.text[start:end])
        if hole is None:
            return height
        own = self.text[start:end].replace("?", " ") if kind == "step" else self.text[start:end]
        self._heights[name] = height + max(map(self._height_of, _NAME.findall(own)), default=0)
        opening = 0
        if kind == "presence":
            opening = self._tokens[first + 1][0]
            own = re.sub(r"\bhas\b|[()]", lambda found: " " * len(found[0]), own)
        self.parts.append(Part(name, _blank(self.text[:start]) + own, self._bound, kind, opening))
        at = start + hole.start()
        self.text = (
            self.text[:start]
            + _blank(self.text[start:at])
            + name
            + _blank(self.text[at + len(name) : end])
            + self.text[end:]
        )
        return 1

    def _height_of(self, word: str) -> int:
        """Tell how high the part is for which a name stands. Raises RecursionError when it is higher than the limit."""
        height = self._heights.get(word, 0)
        if height > _LIMIT:
            raise RecursionError
        return height

    @property
    def _sign(self) -> str:
        return self._tokens[self._at][2]

    def _next(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1][2]

    def _take(self, sign: str) -> bool:
        taken = self._sign == sign
        self._at += taken
        return taken


def _prefixes() -> Iterator[str]:
    prefix = "_"
    while True:
        yield prefix
        prefix += "_"


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)
