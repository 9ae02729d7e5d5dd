"""Where in its file a mapping of a document stands: gives each expression its position."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol, Self

from webhook.errors import DocumentError
from webhook.model import path as paths
from webhook.model.path import Path
from webhook.model.policy import NO_TEXT, Expression, Location, Text

KEY: Final = "[key]"
"""The last step of a path that means a key and not its value."""

_BLOCK_SCALAR = re.compile(r"[|>][-+0-9]*\s*(?:#.*)?")


class Position(Protocol):
    """A place in a file, from 1."""

    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...


class Locator(Protocol):
    """Finds the node at a path in a document, or its nearest parent that exists."""

    def locate(self, path: Path) -> Position: ...


@dataclass(frozen=True, slots=True)
class Place:
    """A node of an object in a file. `prefix` leads to the object: `("items", 1)` inside a List."""

    file: str
    lines: Sequence[str]
    locator: Locator
    prefix: Path = ()
    path: Path = ()

    def __truediv__(self, step: str | int) -> Self:
        """Go one step down."""
        return type(self)(self.file, self.lines, self.locator, self.prefix, (*self.path, step))

    def below(self, path: Path) -> Self:
        """Go down a path."""
        return type(self)(self.file, self.lines, self.locator, self.prefix, self.path + path)

    def location(self) -> Location:
        """Say where the node is written."""
        position = self.locator.locate(self.prefix + self.path)
        return Location(self.file, position.line, position.column, paths.render(self.path))

    def key_location(self) -> Location:
        """Say where the node's key is written: before it on its line, or where the reader places it anyway."""
        at = self.location()
        before = self.lines[at.line - 1][: at.column - 1] if 0 < at.line <= len(self.lines) else ""
        column = before.rfind(str(self.path[-1])) + 1
        return Location(at.file, at.line, column or at.column, at.path)

    def error(self, message: str, *, of_key: bool = False) -> DocumentError:
        """Say what is wrong with the node, or with its key."""
        at = self.key_location() if of_key else self.location()
        return DocumentError(at.file, at.line, at.column, at.path, message)

    def expression(self, text: str) -> Expression:
        """Say where an expression's own text begins: behind the quote, or on the line after `|` or `>`."""
        at = self.location()
        line, column = at.line, at.column
        rest = self.lines[line - 1][column - 1 :] if 0 < line <= len(self.lines) else ""
        if _BLOCK_SCALAR.fullmatch(rest):
            line, column = self._first_content_line(line)
        elif rest.startswith(("'", '"')):
            column += 1
        return Expression(text, Location(at.file, line, column, at.path))

    def optional_expression(self, name: str, text: str | None) -> Expression | None:
        """Say the same of an expression one step down, which may be missing."""
        return (self / name).expression(text) if text else None

    def text(self, name: str, literal: str | None, expression: str | None) -> Text:
        """Make a text of a literal and its `…Expression` twin, either of which may be missing."""
        if literal is None and expression is None:
            return NO_TEXT
        return Text((literal or "").strip(), self.optional_expression(f"{name}Expression", expression))

    def _first_content_line(self, indicator: int) -> tuple[int, int]:
        for number, line in enumerate(self.lines[indicator:], start=indicator + 1):
            if content := line.lstrip():
                return number, len(line) - len(content) + 1
        return indicator, 1
