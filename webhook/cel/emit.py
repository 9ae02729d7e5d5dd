"""Python source text in the making: lines, blocks, names for values in between."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType

_MAX_BLOCKS = 10
"""CPython allows 20 loops and `try` blocks inside each other; deeper ones go into a function of their own."""


def compiled(source: str) -> CodeType:
    """Compile what has been written. What Python has doubts about, such as `1['a']`, fails as CEL says it does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        return compile(source, "<cel>", "exec")


class Emitter:
    """Collects the lines of one function. What is emitted runs before the expression text returned."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._indent = 1
        self._blocks = 0
        self._names = 0

    def emit(self, line: str) -> None:
        """Add one line at the current depth."""
        self.lines.append(" " * self._indent + line)

    def name(self, prefix: str = "t") -> str:
        """Give a name that nothing else in the function has."""
        self._names += 1
        return f"{prefix}{self._names}"

    def atom(self, text: str) -> str:
        """Give a text that can be written twice: the text itself when it is a name, else a new name for it."""
        if text.isidentifier() or _literal(text):
            return text
        name = self.name()
        self.emit(f"{name} = {text}")
        return name

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Indent what is emitted inside under a line such as `if x:`."""
        self.emit(head)
        nests = head.startswith(("for ", "try"))
        self._indent += 1
        self._blocks += nests
        start = len(self.lines)
        yield
        if len(self.lines) == start:
            self.emit("pass")
        self._indent -= 1
        self._blocks -= nests

    def capture(self, write: Callable[[], str]) -> tuple[list[str], str]:
        """Write something aside: the lines it emits, one level deeper, and its expression."""
        outer, self.lines = self.lines, []
        self._indent += 1
        try:
            text = write()
            return self.lines, text
        finally:
            self._indent -= 1
            self.lines = outer

    def shallow(self, write: Callable[[], str]) -> str:
        """Write something that needs blocks; where they are too many already, inside a function."""
        if self._blocks < _MAX_BLOCKS:
            return write()
        function, blocks = self.name("f"), self._blocks
        with self.block(f"def {function}():"):
            self._blocks = 0
            self.emit(f"return {write()}")
            self._blocks = blocks
        return f"{function}()"


def _literal(text: str) -> bool:
    return text.isdigit() or (text[:1] == text[-1:] == "'" and "'" not in text[1:-1] and len(text) > 1)
