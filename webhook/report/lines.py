"""Entries of a JSON list that waits for the end of a run."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from typing import Any, Final, TextIO

_IN_MEMORY: Final = 8 << 20
"""Characters of results kept in memory; a report that grows beyond waits for its end on disk."""


class Lines:
    """Entries of one list, one a line, in memory or on disk, so that memory does not grow with the input."""

    def __init__(self, entries: Iterable[Mapping[str, Any]] = ()) -> None:
        """Begin with these entries."""
        self._file = tempfile.SpooledTemporaryFile(_IN_MEMORY, "w+", encoding="utf-8")  # noqa: SIM115 - closed with the report
        for entry in entries:
            self.add(entry)

    def add(self, entry: Mapping[str, Any]) -> None:
        """Add one entry."""
        self._file.write((",\n  " if self._file.tell() else "\n  ") + json.dumps(entry))

    def copy_to(self, out: TextIO) -> None:
        """Write them all, and forget them."""
        self._file.seek(0)
        shutil.copyfileobj(self._file, out)
        self._file.close()
