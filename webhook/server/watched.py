"""A value made from files and the like, made anew when they change; the last good one stays in force."""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from webhook.errors import CozyguardError
from webhook.server.logs import Log, failure

Value = TypeVar("Value")

INTERVAL: Final = 1.0
"""Seconds between two looks. Files are looked at, not waited for: a mounted Secret or ConfigMap changes by
a symbolic link being moved above the file, which the usual notifications miss."""


class Watched(Generic[Value]):
    """`current` is the value in force; it is replaced in one assignment, so a reader sees the old or the new one.

    Given the value in force (None before the first), `load` makes a new one, and `paths` says which files and folders
    it is made from; `besides` gives something that differs when anything else has changed.
    Making the first value may raise; after that every failure is counted, logged and shown, and changes nothing.
    `taken` is told of each value that has come into force after it.
    """

    def __init__(
        self,
        name: str,
        load: Callable[[Value | None], Value],
        paths: Callable[[Value | None], Iterable[Path]],
        log: Log,
        besides: Callable[[], object] = lambda: None,
        taken: Callable[[Value], None] = lambda _: None,
    ) -> None:
        """Load the first value. Raises what `load` raises."""
        self.name = name
        self._load, self._paths, self._log = load, paths, log
        self._besides, self._taken = besides, taken
        self._seen = self._look_at(None)  # before loading: what changes meanwhile is seen as a change
        self.current = load(None)
        self.loaded_at = datetime.now(UTC)
        self.generation = 1
        self.failures = 0
        self.last_error: str | None = None

    async def watch(self) -> None:
        """Look again and again, until cancelled, in a thread: reviews go on while files are read and compiled."""
        while True:
            await asyncio.sleep(INTERVAL)
            await asyncio.to_thread(self.look)

    def look(self) -> None:
        """Load a new value if anything has changed since the last look."""
        seen = self._look_at(self.current)
        if seen == self._seen:
            return
        self._seen = seen
        try:
            self.current = self._load(self.current)
        except CozyguardError as error:
            self._fail(str(error), {"error": str(error)})
        except Exception as error:  # noqa: BLE001 - whatever is wrong with the new files, the old value is good
            self._fail(type(error).__name__, failure(error))
        else:
            self.loaded_at = datetime.now(UTC)
            self.generation += 1
            self.last_error = None
            settle()
            self._taken(self.current)
            self._log.info("reloaded", what=self.name, generation=self.generation)

    def report(self) -> dict[str, Any]:
        """Tell `/readyz` which value is in force, since when, and what was wrong with a newer one."""
        return {"generation": self.generation, "loadedAt": self.loaded_at, "lastError": self.last_error}

    def _look_at(self, current: Value | None) -> object:
        return fingerprint(self._paths(current)), self._besides()

    def _fail(self, message: str, fields: dict[str, Any]) -> None:
        self.failures += 1
        self.last_error = message
        self._log.error("reload failed, the last good state stays in force", what=self.name, **fields)


def settle() -> None:
    """Let the garbage collector forget what will live as long as the files stay as they are.

    Otherwise it walks hundreds of thousands of objects, modules and policies, again and again while
    reviews wait. What was frozen last time is thawed first, or old policies would never be freed.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def fingerprint(paths: Iterable[Path]) -> tuple[tuple[Any, ...], ...]:
    """Describe the state of files and folders: any change of content shows in size, time or inode."""
    return tuple(sorted(_stat(path) for start in paths for path in _files(start)))


def _files(start: Path) -> Iterator[Path]:
    """List a file, or all files below a folder: links are followed, hidden names are not."""
    visited: set[str] = set()
    for folder, folders, names in os.walk(start, followlinks=True):
        if (real := os.path.realpath(folder)) in visited:
            folders.clear()
            continue
        visited.add(real)
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(folder, name) for name in names if not name.startswith("."))
    if not visited:
        yield start


def _stat(path: Path) -> tuple[Any, ...]:
    try:
        stat = path.stat()
    except OSError:
        return (str(path),)
    return (str(path), stat.st_ino, stat.st_size, stat.st_mtime_ns)
