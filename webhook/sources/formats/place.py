"""Where in its file a mapping of a document stands: gives each expression its position."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final, Protocol, Self

from webhook.errors import DocumentError
from webhook.model import path as paths
from webhook.model.path import Path
from webhook.model.policy import NO_TEXT, Expression, Location, Text

KEY: Final = "[key]"
"""The last step of a path that means a key and not its value."""

_BLOCK_SCALAR = re.compile(r"[|>][-+0-9]*[ \t]*(?:#.*)?\n\s*")


class Position(Protocol):
    """A place in a file, from 1."""

    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...


class Document(Protocol):
    """What is asked of `webhook.sources.yaml.Document`, which is loaded only when something is read."""

    def locate(self, path: Path) -> Position: ...
    def source(self, line: int) -> str: ...
    def written(self, path: Path) -> str: ...


@dataclass(frozen=True, slots=True)
class NoText:
    """Stands for the text, and for every place in it, of an object that the API server gave: it has neither."""

    line: int = 0
    column: int = 0

    def locate(self, path: Path) -> Self:  # noqa: ARG002 - the signature is that of a Document
        """Give no place."""
        return self

    def source(self, line: int) -> str:  # noqa: ARG002 - the signature is that of a Document
        """Give an empty line."""
        return ""

    def written(self, path: Path) -> str:  # noqa: ARG002 - the signature is that of a Document
        """Give no text."""
        return ""


@dataclass(frozen=True, slots=True)
class Place:
    """A node of an object in a file. `prefix` leads to the object: `("items", 1)` inside a List."""

    file: str
    document: Document
    prefix: Path = ()
    path: Path = ()

    def __truediv__(self, step: str | int) -> Self:
        """Go one step down."""
        return self.below((step,))

    def below(self, path: Path) -> Self:
        """Go down a path."""
        return replace(self, path=self.path + path)

    def location(self) -> Location:
        """Say where the node is written."""
        position = self.document.locate(self.prefix + self.path)
        return Location(self.file, position.line, position.column, paths.render(self.path))

    def key_location(self) -> Location:
        """Say where the node's key is written: before it on its line, or where the reader places it anyway."""
        at = self.location()
        column = self.document.source(at.line)[: at.column - 1].rfind(str(self.path[-1])) + 1
        return replace(at, column=column or at.column)

    def error(self, message: str, *, of_key: bool = False) -> DocumentError:
        """Say what is wrong with the node, or with its key."""
        at = self.key_location() if of_key else self.location()
        return DocumentError(at.file, at.line, at.column, at.path, message)

    def expression(self, text: str) -> Expression:
        """Say where an expression's own text begins: behind the quote, or on the line after `|` or `>`.

        Without a text around it, it is the text: places in it count from its own start.
        """
        at = self.location()
        if not at.line:
            return Expression(text, replace(at, line=1, column=1))
        written = self.document.written(self.prefix + self.path)
        if block := _BLOCK_SCALAR.match(written):
            content = written[block.end() :]
            is_folded = written.startswith(">") and "\n" in content.strip()
            return Expression(text, self._content(at, text), content if is_folded or text[:1] == "\n" else "")
        if written.startswith(("'", '"')):
            written, at = written[1:], replace(at, column=at.column + 1)
        return Expression(text, at, "" if written.startswith(text) else written)

    def optional_expression(self, name: str, text: str | None) -> Expression | None:
        """Say the same of an expression one step down, which may be missing."""
        return (self / name).expression(text) if text else None

    def text(self, name: str, literal: str | None, expression: str | None) -> Text:
        """Make a text of a literal and its `…Expression` twin, either of which may be missing."""
        if literal is None and expression is None:
            return NO_TEXT
        return Text((literal or "").strip(), self.optional_expression(f"{name}Expression", expression))

    def _content(self, indicator: Location, text: str) -> Location:
        """Find the first line of a block's text; blank ones before it are line breaks in the text."""
        first = indicator.line + 1
        for number in range(first, first + text.count("\n") + 1):
            line = self.document.source(number)
            if line.strip():
                return replace(indicator, line=number, column=len(line) - len(line.lstrip()) + 1)
        return indicator
