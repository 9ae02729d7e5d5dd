"""A document that was read: its value, and its text for whoever has to point at something in it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

from webhook.model.path import Path
from webhook.sources.yaml import positions
from webhook.sources.yaml.json import as_yaml
from webhook.sources.yaml.positions import Position
from webhook.sources.yaml.tree import Fault, Node, Scalar, compose, scalars

_COMMENT: Final = re.compile(r"(?:^|(?<=\s))#")


@dataclass(slots=True)
class Document:
    """One document that is not empty.

    `index` counts the documents of the file from 0, empty ones too. `line` is the one on which `text` begins, from 1.
    The tree behind `locate` and `comment` is made at the first call: most documents have nothing to point at.
    """

    file: str
    index: int
    line: int
    text: str
    value: Any
    json: bool = False
    _root: Node | None = field(default=None, repr=False, compare=False)

    def locate(self, path: Path) -> Position:
        """Find where a field is written, or its nearest parent that exists."""
        if (root := self._tree()) is None:
            return Position(self.line, 1, 1)
        node = positions.locate(self.text, root, path)
        return positions.at(self.text, self.line, node.start, node.end)

    def written(self, path: Path) -> str:
        """Give the text of a field's value as the file has it, with its quotes or the head of its block."""
        if (root := self._tree()) is None:
            return ""
        node = positions.locate(self.text, root, path)
        return self.text[node.start : node.end]

    def source(self, line: int) -> str:
        """Give the text of a line of the file, "" if it is outside this document."""
        lines = self.text.split("\n")
        return lines[line - self.line] if 0 <= line - self.line < len(lines) else ""

    def comment(self, line: int) -> str:
        """Give the comment on a line of the file without its `#`, "" if there is none."""
        text = self.source(line)
        if "#" not in text or self.json or (root := self._tree()) is None:
            return ""
        offset = sum(len(each) + 1 for each in self.text.split("\n")[: line - self.line])
        inside = [each for each in scalars(root) if each.start < offset + len(text) and offset < each.end]
        for found in _COMMENT.finditer(text):
            if not any(_covers(each, self.text, offset + found.start()) for each in inside):
                return text[found.end() :].strip()
        return ""

    def _tree(self) -> Node | None:
        """Compose the tree once. None where JSON is so unlike YAML that its places cannot be told."""
        if self._root is None:
            try:
                self._root, _ = compose(as_yaml(self.text) if self.json else self.text)
            except Fault:
                return None
        return self._root


def _covers(scalar: Scalar, text: str, offset: int) -> bool:
    """Does a scalar hold the character there; behind the `|` or `>` of a block there may be a comment."""
    start = text.find("\n", scalar.start) if scalar.block else scalar.start
    return start <= offset < scalar.end
