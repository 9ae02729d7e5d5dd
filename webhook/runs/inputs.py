"""What a run reads: the documents of files and standard input, as often as it takes, in batches."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from webhook.errors import DocumentError
from webhook.sources.files import STDIN, Skipped
from webhook.sources.manifests import sources
from webhook.sources.yaml import Source

if TYPE_CHECKING:
    from tempfile import _TemporaryFileWrapper

Piece = Source | Skipped | DocumentError
"""One document to be read, or what there is to say about a file that has none."""

BATCH: Final = 1 << 15
"""Characters of text that are handed out together: a dozen objects or more, some milliseconds of work."""


class Inputs:
    """The documents that paths stand for. They are read from the start each time, by several processes at once."""

    def __init__(self, paths: Sequence[str]) -> None:
        """Name the paths; `-` is standard input, which is kept in a file as it can be read only once."""
        self._paths = paths
        self._stdin = _keep_stdin() if STDIN in paths else None

    def pieces(self) -> Iterator[Piece]:
        """Yield every document, in the order of the paths."""
        if self._stdin is None:
            yield from sources(self._paths)
            return
        with Path(self._stdin.name).open("rb") as stdin:  # anew each time: a position of one's own
            yield from sources(self._paths, stdin)

    def batches(self) -> Iterator[list[Piece]]:
        """Yield every document, those that are short together."""
        batch: list[Piece] = []
        size = 0
        for piece in self.pieces():
            batch.append(piece)
            size += len(piece.text) if isinstance(piece, Source) else 0
            if size >= BATCH:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch


def _keep_stdin() -> _TemporaryFileWrapper[bytes]:
    from tempfile import NamedTemporaryFile  # here: few runs need it

    file = NamedTemporaryFile()  # noqa: SIM115 - it goes when its owner does
    shutil.copyfileobj(sys.stdin.buffer, file)
    file.flush()
    return file
