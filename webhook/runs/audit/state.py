"""What an audit has finished, kept in a file as it goes on, so that one that was interrupted can be taken up.

The first line says what the file belongs to, each other one what is kept of one listing. No data of objects is in it,
and no findings: an object that there was something to say about is looked at again when the audit is taken up.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import aclosing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import orjson

import webhook
from webhook.cluster.faults import ApiError
from webhook.cluster.pager import Pager
from webhook.cluster.resources import NAMESPACES
from webhook.errors import DocumentError, UsageError
from webhook.runs.audit.prepare import Asked, Ready

_SYSTEM: Final = "kube-system"
"""Its uid stays the same as long as a cluster lives, and no other cluster has it."""
_WORTH: Final = 50
"""Objects that are listed in the time that one takes which is asked for alone."""
_OTHER: Final = {
    "version": "another version of cozyguard",
    "cluster": "another cluster",
    "policies": "other policies, modes or exceptions",
    "releases": "another release",
    "extent": "other kinds, other namespaces or another share",
}
"""What a file belongs to, and how to say that it is not the same."""

Owner = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Listing:
    """A finished one: how many objects there is nothing to say about, and namespace and name of the others."""

    silent: int
    told: list[tuple[str, str]]


async def owner(asked: Asked, audit: Ready, pager: Pager) -> Owner:
    """Say what an audit's file belongs to. Raises UsageError if the cluster cannot be known again, and Unreachable."""
    return {
        "version": webhook.__version__,
        "cluster": await _identity(pager),
        "policies": _digest(audit),
        "releases": f"{audit.setup.release} {audit.after.version if audit.after else ''}".strip(),
        "extent": json.dumps([sorted(asked.kinds), sorted(asked.namespaces), asked.shard.index, asked.shard.count]),
    }


async def _identity(pager: Pager) -> str:
    try:
        async with aclosing(pager.pages(NAMESPACES.path(), name=_SYSTEM)) as pages:
            async for page in pages:
                for one in page.items:
                    return str(one["metadata"]["uid"])
    except ApiError as error:
        if not error.is_forbidden:
            raise
    raise UsageError(f"argument --state: to know the cluster again, it has to be able to list {_SYSTEM} in namespaces")


def _digest(audit: Ready) -> str:
    """Tell policies and configurations apart that may decide differently."""
    policies = {_bytes(one.policy) for target in audit.targets for one in target.policies.policies}
    return hashlib.sha256(b"\n".join([_bytes(audit.context.configuration), *sorted(policies)])).hexdigest()


def _bytes(value: Any) -> bytes:
    return orjson.dumps(value, default=sorted)  # sets, which are in another order in each process


class State:
    """Made by `open`. What has been finished before is in `finished`, by the path of its listing."""

    def __init__(self, file: Path, began: str, finished: Mapping[str, Listing]) -> None:
        """Go on with a file that is there."""
        self.began, self.finished = began, finished
        self._file, self._stopped = file, False

    @classmethod
    def open(cls, file: Path, belongs: Owner) -> State:
        """Take up what a file holds, or begin it. Raises UsageError if it is another audit's, or cannot be used.

        What stands behind the last whole line was being written when the run was cut off, and is dropped.
        """
        try:
            content = file.read_bytes() if file.exists() else b""
            if not content:
                return cls(file, _begin(file, belongs), {})
            whole = content[: content.rfind(b"\n") + 1]
            began, finished = _read(file, whole, belongs)
            os.truncate(file, len(whole))
        except OSError as error:
            raise UsageError(f"argument --state: `{file}` cannot be used: {_words(error)}") from None
        return cls(file, began, finished)

    def keep(self, path: str, listing: Listing) -> Iterator[DocumentError]:
        """Write that a listing is finished; yields a notice where that fails, which ends it.

        It is not written where there is something to say about so many objects that listing all again is quicker.
        """
        if self._stopped or len(listing.told) * _WORTH > listing.silent + len(listing.told):
            return
        try:
            with self._file.open("r+b") as stream:  # which makes none, should somebody have taken it away
                stream.seek(0, os.SEEK_END)
                stream.write(_line({"path": path} | asdict(listing)))
        except OSError as error:
            self._stopped = True  # or the next line would stand behind a part of this one
            yield DocumentError(str(self._file), message=f"is kept no further: {_words(error)}")

    def notices(self) -> Iterator[DocumentError]:
        """Say what was there before."""
        if self.finished:
            words = f"goes on with the run that began at {self.began}: what that one has finished is not listed again"
            yield DocumentError(str(self._file), message=words)

    def end(self, *, whole: bool) -> Iterator[DocumentError]:
        """Delete the file if nothing is left to do, else say what it is good for."""
        try:
            if whole:
                self._file.unlink(missing_ok=True)
            elif not self._stopped:
                yield DocumentError(str(self._file), message="is kept: the same command goes on with what is left")
        except OSError as error:
            yield DocumentError(str(self._file), message=f"cannot be deleted, and should be: {_words(error)}")


def _begin(file: Path, belongs: Owner) -> str:
    began = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as stream:
        stream.write(_line({"audit": belongs, "began": began}))
    return began


def _read(file: Path, content: bytes, belongs: Owner) -> tuple[str, dict[str, Listing]]:
    """Give when it was begun, and what has been finished. Raises UsageError."""
    try:
        first, *lines = map(json.loads, content.splitlines())
        held, began = dict(first["audit"]), str(first["began"])
        finished = {one["path"]: Listing(int(one["silent"]), [(at, name) for at, name in one["told"]]) for one in lines}
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"argument --state: `{file}` was not written by an audit; name another file") from None
    if differs := [words for key, words in _OTHER.items() if held.get(key) != belongs[key]]:
        what = "; ".join(differs)
        hint = "name another file, or delete it to begin anew"
        raise UsageError(f"argument --state: `{file}` is of an audit of {what}: {hint}")
    return began, finished


def _line(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def _words(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
