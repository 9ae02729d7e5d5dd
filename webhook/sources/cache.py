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
from functools import cache
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from typing import Any, Final, TypeVar

import webhook

Made = TypeVar("Made")

_KEPT: Final = 64 * 2**20
"""Bytes that stay: old entries belong to policies that have changed since. The bundled policies take 8 MiB."""
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


def prune() -> None:
    """Drop the oldest entries, where all together have become too many."""
    if (folder := _folder()) is None:
        return
    with contextlib.suppress(OSError):
        newest_first = sorted(((file.stat(), file) for file in folder.glob("*.pickle")), key=_age)
        sizes = accumulate(status.st_size for status, _ in newest_first)
        for size, (_, file) in zip(sizes, newest_first, strict=True):
            if size > _KEPT:
                file.unlink(missing_ok=True)


def _age(entry: tuple[os.stat_result, Path]) -> int:
    return -entry[0].st_mtime_ns


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
    digest = hashlib.sha256()
    for part in (_code(), *parts):
        digest.update(len(part).to_bytes(8) + part)
    return digest.hexdigest()


@cache
def _code() -> bytes:
    return "\n".join((webhook.__version__, sys.version, *_sources(), _cel_library())).encode()


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
    """Write beside and rename, so that another command never reads half an entry."""
    entry = pickle.dumps(made, protocol=pickle.HIGHEST_PROTOCOL)
    beside = file.with_suffix(f".{os.getpid()}")
    try:
        beside.write_bytes(hashlib.sha256(entry).digest() + entry)
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)
