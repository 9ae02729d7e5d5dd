"""Requests that were recorded: AdmissionReviews and Kubernetes' audit logs, one JSON document a line.

A file that is one JSON document over many lines is read as well, and one that is compressed with gzip. Logs are long,
and what is compressed may unpack to anything: whatever is held of them at a time has a limit.
"""

from __future__ import annotations

import gzip
import sys
import zlib
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, Final

import orjson

from webhook.admission import audit, codec
from webhook.errors import DocumentError, ReviewError
from webhook.model.recorded import Recorded
from webhook.model.request import DELETE, Object
from webhook.sources.files import STDIN, Skipped, unreadable
from webhook.sources.manifests import STDIN_NAME

_GZIP: Final = b"\x1f\x8b"
_WANTED: Final = "want AdmissionReviews or events of an audit log, one a line"
_REMEMBERED: Final = 64 << 20
"""Bytes of objects that are remembered, so that the next event about one of them has its old object."""
_OVERHEAD: Final = 512
"""Bytes that remembering an object takes besides its text and name."""
_LARGEST: Final = 32 << 20
"""Bytes of one document: an event holds the object twice at most, and the API server takes none above 3 MiB."""
_MOST_FAULTS: Final = 1000
"""Faults of one file, after which it is something else than a recording."""

_Stream = IO[bytes] | gzip.GzipFile


class Recordings:
    """Reads recordings. `not_judged` counts requests that a recording does not tell enough of, by what is missing."""

    def __init__(self) -> None:
        """Start with nothing read."""
        self.not_judged: Counter[str] = Counter()
        self._objects = _Objects(_REMEMBERED)

    def read(self, paths: Iterable[str]) -> Iterator[Recorded | Skipped | DocumentError]:
        """Give every request of the files, in their order. Nothing is raised: what cannot be read comes as an error."""
        for path in paths:
            name, faults = STDIN_NAME if path == STDIN else path, 0
            for found in self._path(path, name):
                yield found
                faults += isinstance(found, DocumentError)
                if faults == _MOST_FAULTS:
                    yield DocumentError(name, message=f"not read any further: got {faults} faults, {_WANTED}")
                    break

    def _path(self, path: str, name: str) -> Iterator[Recorded | Skipped | DocumentError]:
        try:
            if path == STDIN:
                yield from self._file(name, sys.stdin.buffer)
                return
            with _open(Path(path)) as stream:
                yield from self._file(name, stream)
        except OSError as error:
            yield unreadable(name, error)
        except (EOFError, zlib.error) as error:  # a compressed file that was cut off, or damaged
            yield unreadable(name, OSError(str(error)))

    def _file(self, name: str, stream: _Stream) -> Iterator[Recorded | Skipped | DocumentError]:
        begun = False
        for number, line in enumerate(_lines(stream), 1):
            if not line.strip():
                continue
            first, begun = not begun, True
            if len(line) > _LARGEST:
                yield DocumentError(name, number, 1, message=f"got a line of more than {_LARGEST >> 20} MiB, {_WANTED}")
                continue
            try:
                document = orjson.loads(line)
            except orjson.JSONDecodeError:
                if first:
                    yield from self._whole(name, number, line + stream.read(_LARGEST + 1 - len(line)))
                    return
                if line.endswith(b"\n"):
                    yield DocumentError(name, number, 1, message=f"got no JSON, {_WANTED}")
                else:
                    yield Skipped(f"{name}:{number}", "cut off within the line")
                continue
            yield from self._document(name, number, document)

    def _whole(self, name: str, line: int, text: bytes) -> Iterator[Recorded | DocumentError]:
        """Read a file that is one document and begins at this line."""
        try:
            document = orjson.loads(text)
        except orjson.JSONDecodeError:
            what = "no JSON" if len(text) <= _LARGEST else f"a document of more than {_LARGEST >> 20} MiB"
            yield DocumentError(name, line, 1, message=f"got {what}, {_WANTED}")
            return
        listed = document.get("items") if isinstance(document, dict) else None
        for each in listed if isinstance(listed, list) else [document]:
            yield from self._document(name, line, each)

    def _document(self, name: str, line: int, document: Any) -> Iterator[Recorded | DocumentError]:
        try:
            if isinstance(document, dict) and str(document.get("apiVersion")).startswith(audit.GROUP):
                yield from self._event(name, line, document)
            else:
                yield _review(name, line, document)
        except audit.NotJudged as reason:
            self.not_judged[str(reason)] += 1
        except ReviewError as error:
            yield DocumentError(name, line, 1, message=str(error))

    def _event(self, name: str, line: int, event: Object) -> Iterator[Recorded]:
        made = audit.operation(event)
        if made is None:
            return
        key, obj = audit.key(event), audit.written(event)
        old = self._objects.get(key)
        # What a subresource takes is another object, and a dry run leaves all as it is.
        if not (event["objectRef"].get("subresource") or audit.dry_run(event)):
            if made == DELETE:
                self._objects.forget(key)
            elif obj is not None:
                self._objects.remember(key, obj)
        time = event.get("requestReceivedTimestamp")
        yield Recorded(audit.request(event, old), name, line, time if isinstance(time, str) else "", allowed=True)


def _review(name: str, line: int, document: Any) -> Recorded:
    """Take an AdmissionReview; `recordedAt` and the response are there where the server has recorded it."""
    request = codec.read(document)
    answer, time = document.get("response"), document.get("recordedAt")
    allowed = answer.get("allowed") if isinstance(answer, dict) else None
    return Recorded(
        request,
        name,
        line,
        time if isinstance(time, str) else "",
        allowed if isinstance(allowed, bool) else None,
    )


def _open(path: Path) -> _Stream:
    with path.open("rb") as file:
        compressed = file.read(len(_GZIP)) == _GZIP
    return gzip.open(path) if compressed else path.open("rb")


def _lines(stream: _Stream) -> Iterator[bytes]:
    """Give each line; of one that is too long its beginning, which is still too long."""
    while line := stream.readline(_LARGEST + 1):
        rest = line
        while len(rest) > _LARGEST and not rest.endswith(b"\n"):
            rest = stream.readline(_LARGEST + 1)
        yield line


class _Objects:
    """Remembers objects as their JSON; those that were longest not heard of are forgotten first."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._known: OrderedDict[tuple[str, ...], bytes] = OrderedDict()

    def get(self, key: tuple[str, ...]) -> Object | None:
        text = self._known.get(key)
        if text is None:
            return None
        obj: Object = orjson.loads(text)
        return obj

    def remember(self, key: tuple[str, ...], obj: Object) -> None:
        self.forget(key)
        try:
            text = orjson.dumps(obj)
        except orjson.JSONEncodeError:  # it reads deeper objects than it writes
            return
        self._known[key] = text
        self._room -= _size(key, text)
        while self._room < 0:
            self._room += _size(*self._known.popitem(last=False))

    def forget(self, key: tuple[str, ...]) -> None:
        if key in self._known:
            self._room += _size(key, self._known.pop(key))


def _size(key: tuple[str, ...], text: bytes) -> int:
    return _OVERHEAD + sum(map(len, key)) + len(text)
