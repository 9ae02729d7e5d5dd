"""Where a sub-expression begins and ends in the text: the parser gives one position a node only."""

from __future__ import annotations

import re
from typing import Final

from webhook.cel.tree import Call, Const, Ident, MapNode, Node, Select, Tree, children, line_and_column

_TOKEN: Final = re.compile(
    r"""\s+|//[^\n]*
    |[rRbB]{0,2}(?:'''(?:\\.|[^\\])*?'''|\"\"\"(?:\\.|[^\\])*?\"\"\"|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")
    |0x[0-9a-fA-F]+u?|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?u?
    |[A-Za-z_]\w*|`[^`]*`|&&|\|\||[=!<>]=|.""",
    re.VERBOSE | re.DOTALL,
)
BRACKETS: Final = {"(": ")", "[": "]", "{": "}"}
"""What opens, and what closes it."""


def tokens(text: str) -> list[tuple[int, int, str]]:
    """Give the start, the end and the text of every token."""
    return [
        (match.start(), match.end(), match[0])
        for match in _TOKEN.finditer(text)
        if not match[0].isspace() and not match[0].startswith("//")
    ]


def source(tree: Tree, node: Node) -> str:
    """Give the text of a sub-expression, without parentheses around the whole of it."""
    extents = _Extents(tree)
    start, end = extents.balanced(*extents.extent(node))
    return tree.text[start:end]


def position(tree: Tree, node: Node) -> tuple[int, int]:
    """Give line and column (from 1) of a node: where a name starts, at the operator or the dot of others."""
    if isinstance(node, Ident):
        return line_and_column(tree.text, _Extents(tree).extent(node)[0])
    return tree.position(node)


class _Extents:
    """The tokens of one expression, found by their offset."""

    def __init__(self, tree: Tree) -> None:
        self._offsets = tree.offsets
        self._tokens = tokens(tree.text)
        self._index = {start: index for index, (start, _, _) in enumerate(self._tokens)}

    def extent(self, node: Node) -> tuple[int, int]:
        """Give start and end (code points) of a node in the text."""
        spans = [self.extent(child) for child in children(node)]
        if (index := self._index.get(self._offsets.get(node.id, -1))) is not None:
            spans.append((self._start(node, index), self._end(node, index)))
        return min((start for start, _ in spans), default=0), max((end for _, end in spans), default=0)

    def balanced(self, start: int, end: int) -> tuple[int, int]:
        """Take in the parentheses around the first or last operand, of which nodes know nothing."""
        depth = lowest = 0
        for offset, _, sign in self._tokens:
            if start <= offset < end:
                depth += (sign == "(") - (sign == ")")
                lowest = min(lowest, depth)
        openers = [offset for offset, _, sign in self._tokens if offset < start and sign == "("]
        closers = [stop for offset, stop, sign in self._tokens if offset >= end and sign == ")"]
        return openers[lowest] if lowest else start, closers[depth - lowest - 1] if depth > lowest else end

    def _start(self, node: Node, index: int) -> int:
        """Where a node's own tokens start: a function's position is its parenthesis, a field's its dot."""
        named = isinstance(node, Ident) or (isinstance(node, Select) and node.test)
        if named or (isinstance(node, Call) and node.target is None and self._tokens[index][2] == "("):
            if self._tokens[index][2] in ("(", "."):
                index -= 1
            while index >= 2 and self._tokens[index - 1][2] == ".":
                index -= 2
        return self._tokens[index][0]

    def _end(self, node: Node, index: int) -> int:
        sign = self._tokens[index][2]
        if isinstance(node, MapNode) and sign != "{":
            index = next(i for i in range(index, len(self._tokens)) if self._tokens[i][2] == "{")
        if self._tokens[index][2] in BRACKETS:
            return self._closing(index)
        if sign == ".":
            index += 2 if self._tokens[index + 1][2] == "?" else 1
        elif isinstance(node, Const) and sign == "-":
            index += 1
        return self._tokens[index][1]

    def _closing(self, index: int) -> int:
        depth = 0
        for _, end, token in self._tokens[index:]:
            depth += (token in BRACKETS) - (token in BRACKETS.values())
            if depth == 0:
                return end
        return self._tokens[-1][1]
