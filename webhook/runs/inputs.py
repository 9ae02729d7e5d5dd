"""What a run reads: the documents of files and standard input, as often as it takes, in batches."""

from __future__ import annotations

import os
import shutil
import sys
import weakref
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from webhook.errors import DocumentError
from webhook.sources.files import STDIN, Skipped
from webhook.sources.manifests import STDIN_NAME, sources
from webhook.sources.yaml import Source

Piece = Source | Skipped | DocumentError
"""One document to be read, or what there is to say about a file that has none."""

BATCH: Final = 1 << 15
"""Characters of text that are handed out together: a dozen objects or more, some milliseconds of work."""


class Inputs:
    """The documents that paths stand for. They are read from the start each time, by several processes at once."""

    def __init__(self, paths: Sequence[str], contents: Mapping[str, bytes] | None = None) -> None:
        """Name the paths; `-` is standard input, which is kept in a file as it can be read only once.

        `contents` are read in place of the files of these names.
        """
        self._paths = paths
        self._contents = contents or {}
        self._stdin = _keep_stdin(self) if STDIN in paths and STDIN_NAME not in self._contents else None

    def pieces(self) -> Iterator[Piece]:
        """Yield every document, in the order of the paths."""
        if self._stdin is None:
            yield from sources(self._paths, contents=self._contents)
            return
        with self._stdin.open("rb") as stdin:  # anew each time: a position of one's own
            yield from sources(self._paths, stdin, self._contents)

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


def _keep_stdin(owner: object) -> Path:
    """Copy standard input to a file, which goes when its owner does; nothing holds it open until then."""
    from tempfile import mkstemp  # here: few runs need it

    handle, name = mkstemp()
    weakref.finalize(owner, os.unlink, name)
    with os.fdopen(handle, "wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return Path(name)
