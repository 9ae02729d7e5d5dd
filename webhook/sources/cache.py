"""Results kept between commands, so that known policies need neither the CEL library nor pydantic.

An entry is found by everything it was made from, and is a pickle: it is read only from a folder and a file that
nobody else can write. The cache never fails a command: what it cannot read or write is made again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import stat
import sys
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeVar

import webhook

Made = TypeVar("Made")

_KEPT: Final = 32
"""Entries that stay; each is some hundred KB, and old ones belong to policies that have changed since."""
_DIGEST_SIZE: Final = hashlib.sha256().digest_size
_CEL_LIBRARY: Final = "cel_expr_python"


def remembered(parts: Iterable[bytes], make: Callable[[], Made]) -> Made:
    """Give what `make` made of these parts before, or make it now and keep it.

    What is made must be of plain classes of this package; `parts` is all that it depends on besides the code.
    """
    folder = _folder()
    if folder is None:
        return make()
    file = folder / f"{_key(parts)}.pickle"
    try:
        found: Made = _read(file)
    except (OSError, ValueError):
        found = make()
        with contextlib.suppress(OSError):
            _write(file, found)
    return found


def _folder() -> Path | None:
    """Make the folder if need be; None where there is none that only its user can write."""
    if not hasattr(os, "geteuid"):
        return None
    try:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(base) / "cozyguard"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder if _private(folder.lstat(), stat.S_ISDIR) else None
    except (OSError, RuntimeError):  # RuntimeError: there is no home
        return None


def _private(status: os.stat_result, is_kind: Callable[[int], bool]) -> bool:
    return is_kind(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o022


def _key(parts: Iterable[bytes]) -> str:
    """Hash the parts and the code that reads them: cozyguard, Python, the CEL library."""
    code = (webhook.__version__, sys.version, *_sources(), _cel_library())
    digest = hashlib.sha256()
    for part in (*(text.encode() for text in code), *parts):
        digest.update(len(part).to_bytes(8) + part)
    return digest.hexdigest()


def _sources() -> Iterable[str]:
    """Name each module of ours with size and time, for checkouts, where the code changes and the version does not."""
    for file in sorted(Path(webhook.__file__).parent.rglob("*.py")):
        status = file.stat()
        yield f"{file} {status.st_size} {status.st_mtime_ns}"


def _cel_library() -> str:
    """Name the CEL library's version by its metadata's folder: neither it nor `importlib.metadata` need loading."""
    spec = find_spec(_CEL_LIBRARY)
    folders = spec.submodule_search_locations if spec else None
    installed = [entry.name for folder in folders or () for entry in Path(folder).parent.glob(f"{_CEL_LIBRARY}-*")]
    return " ".join(sorted(installed))


def _read(file: Path) -> Any:
    """Read an entry. Raises OSError, or ValueError when it is not whole."""
    with file.open("rb") as stream:
        if not _private(os.fstat(stream.fileno()), stat.S_ISREG):
            raise PermissionError(f"`{file}` can be written by others")
        digest, entry = stream.read(_DIGEST_SIZE), stream.read()
    if hashlib.sha256(entry).digest() != digest:
        raise ValueError(f"`{file}` is not whole")
    return pickle.loads(entry)  # noqa: S301 - nobody else could have written it


def _write(file: Path, made: object) -> None:
    """Write beside and rename, so that another command never reads half an entry; then drop what is old."""
    entry = pickle.dumps(made, protocol=pickle.HIGHEST_PROTOCOL)
    beside = file.with_suffix(f".{os.getpid()}")
    try:
        beside.write_bytes(hashlib.sha256(entry).digest() + entry)
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)
    entries = sorted(file.parent.glob("*.pickle"), key=lambda each: each.stat().st_mtime)
    for each in entries[:-_KEPT]:
        each.unlink(missing_ok=True)
