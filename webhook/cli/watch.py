"""Run something again whenever files change."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

_EVERY: Final = 0.5
"""Seconds between two looks at the files: soon enough for whoever has just saved one."""

_State = dict[str, tuple[int, int]]


def watch(run: Callable[[], Iterable[str | Path]]) -> None:
    """Run, wait until one of the files and folders that it answers with has changed, and run again, for ever."""
    while True:
        before = time.time_ns()
        paths = list(run())
        seen = _state(paths)
        if any(changed > before for changed, _ in seen.values()):
            continue  # written while we ran
        while _state(paths) == seen:
            time.sleep(_EVERY)


def _state(paths: Iterable[str | Path]) -> _State:
    """Give time of change and size of every file."""
    return {name: (stat.st_mtime_ns, stat.st_size) for name, stat in _files(paths)}


def _files(paths: Iterable[str | Path]) -> Iterator[tuple[str, os.stat_result]]:
    for path in map(Path, paths):
        files = [path]
        for folder, folders, names in os.walk(path):
            folders[:] = [name for name in folders if name[0] != "."]
            files += [Path(folder, name) for name in names if name[0] != "."]
        for file in files:
            try:
                yield str(file), file.stat()
            except OSError:
                continue  # just gone
