"""What a person at a terminal sees besides the results: faults, notes, progress. All of it on stderr."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterable
from types import TracebackType
from typing import Final, Self, TextIO

from webhook.cli.options import Parser, one_of
from webhook.errors import CozyguardError, DocumentError, DocumentErrors
from webhook.report.plain import visible
from webhook.report.style import Style

_EVERY: Final = 0.2
"""Seconds between two states of the progress line."""

_ERASE: Final = "\r\x1b[K"


def add_colour(parser: Parser) -> None:
    """Offer the choice of colour."""
    choice = one_of("auto", "always", "never")
    help_text = "auto (on a terminal; NO_COLOR is honoured), always or never"
    parser.option("--color", type=choice, metavar="WHEN", default="auto", help=help_text)


def colour(choice: str, stream: TextIO) -> bool:
    """Decide whether to colour; https://no-color.org speaks where the user does not."""
    if choice != "auto":
        return choice == "always"
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def columns(stream: TextIO) -> int:
    """Measure the terminal, from 60 to 120 columns; what is no terminal has 120."""
    return min(max(shutil.get_terminal_size().columns, 60), 120) if stream.isatty() else 120


def say(text: str) -> None:
    """Say something that is no result."""
    print(visible(text), file=sys.stderr)


def tell(errors: Iterable[DocumentError], label: str) -> None:
    """Tell faults of files, a line each, as compilers do: `file:line:column: label: path: message`."""
    style = Style(colour("auto", sys.stderr))
    look = {"note": "yellow", "fixed": "green", "would fix": "green"}.get(label, "red")
    for error in errors:
        place = f"{error.file}:{error.line}:{error.column}" if error.line else error.file
        path = f"{error.path}: " if error.path else ""
        first, *more = f"{path}{error.message}".splitlines() or [""]
        print(f"{visible(place)}: {style(f'{label}:', 'bold', look)} {visible(first)}", file=sys.stderr)
        for line in more:
            print(f"    {visible(line)}", file=sys.stderr)


def fail(error: CozyguardError) -> None:
    """Tell why the command cannot be carried out."""
    if isinstance(error, DocumentErrors):
        tell(error, "error")
        return
    first, *more = str(error).splitlines()
    say(f"error: {first}")
    for line in more:
        say(line)


class Progress:
    """One line that is written over: how many so far. Silent unless stderr is a terminal."""

    def __init__(self, verb: str, noun: str) -> None:
        """Say what is counted: `checked 1200 objects`."""
        self._words = verb, noun
        self._on = sys.stderr.isatty()
        self._next = time.monotonic() + _EVERY
        self._shown = False

    def show(self, number: int) -> None:
        """Write the count, not too often."""
        if self._on and (now := time.monotonic()) >= self._next:
            verb, noun = self._words
            sys.stderr.write(f"{_ERASE}{verb} {number} {noun}…")
            sys.stderr.flush()
            self._next, self._shown = now + _EVERY, True

    def clear(self) -> None:
        """Make room for something that stays."""
        if self._shown:
            sys.stdout.flush()
            sys.stderr.write(_ERASE)
            sys.stderr.flush()
            self._shown = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()
