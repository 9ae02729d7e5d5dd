"""Files written anew: whole or not at all, with the permissions and behind the links that they had."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from tempfile import mkstemp

from webhook.errors import UsageError


def rewrite(file: str, data: bytes) -> None:
    """Put other contents into a file that exists. Raises UsageError where it cannot be written.

    They go to a file beside it, which then takes its name: whoever reads it sees the one or the other.
    """
    target = Path(os.path.realpath(file))  # a link stays, and what it names is written
    try:
        known = target.stat()
        if not os.access(target, os.W_OK):
            raise PermissionError(0, "it is read-only")
        _replace(target, data, known)
    except OSError as error:
        raise UsageError(f"cannot write `{file}`: {(error.strerror or str(error)).lower()}") from None


def _replace(target: Path, data: bytes, known: os.stat_result) -> None:
    handle, name = mkstemp(dir=target.parent, prefix=f".{target.name}.")
    beside = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        with contextlib.suppress(PermissionError):  # only the superuser can give a file away
            os.chown(beside, known.st_uid, known.st_gid)
        beside.chmod(stat.S_IMODE(known.st_mode))
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
