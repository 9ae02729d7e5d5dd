"""Requests that were recorded: AdmissionReviews and Kubernetes' audit logs, one JSON document a line.

A file that is one JSON document over many lines is read as well, and one that is compressed with gzip. Logs are long:
they are read line by line, and of the objects in them so many bytes are remembered at most.
"""

from __future__ import annotations

import gzip
import sys
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

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


class Recordings:
    """Reads recordings. `not_judged` counts requests that a recording does not tell enough of, by what is missing."""

    def __init__(self) -> None:
        """Start with nothing read."""
        self.not_judged: Counter[str] = Counter()
        self._objects = _Objects(_REMEMBERED)

    def read(self, paths: Iterable[str]) -> Iterator[Recorded | Skipped | DocumentError]:
        """Give every request of the files, in their order. Nothing is raised: what cannot be read comes as an error."""
        for path in paths:
            name = STDIN_NAME if path == STDIN else path
            try:
                if path == STDIN:
                    yield from self._file(name, sys.stdin.buffer)
                    continue
                with _open(Path(path)) as stream:
                    yield from self._file(name, stream)
            except (OSError, EOFError) as error:  # EOFError: a compressed file that was cut off
                yield unreadable(name, error if isinstance(error, OSError) else OSError(str(error)))

    def _file(self, name: str, stream: Iterable[bytes]) -> Iterator[Recorded | Skipped | DocumentError]:
        lines = iter(stream)
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                document = orjson.loads(line)
            except orjson.JSONDecodeError:
                if number == 1:
                    yield from self._whole(name, line + b"".join(lines))
                elif line.endswith(b"\n"):
                    yield DocumentError(name, number, 1, message=f"got no JSON, {_WANTED}")
                else:
                    yield Skipped(f"{name}:{number}", "cut off within the line")
                continue
            yield from self._document(name, number, document)

    def _whole(self, name: str, text: bytes) -> Iterator[Recorded | DocumentError]:
        try:
            document = orjson.loads(text)
        except orjson.JSONDecodeError:
            yield DocumentError(name, 1, 1, message=f"got no JSON, {_WANTED}")
            return
        listed = document.get("items") if isinstance(document, dict) else None
        for each in listed if isinstance(listed, list) else [document]:
            yield from self._document(name, 1, each)

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
        subresource = bool(event["objectRef"].get("subresource"))
        old = self._objects.get(key)
        if made == DELETE and not subresource:
            self._objects.forget(key)
        elif obj is not None and not subresource:  # what a subresource takes is another object
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


def _open(path: Path) -> AbstractContextManager[Iterable[bytes]]:
    with path.open("rb") as file:
        compressed = file.read(len(_GZIP)) == _GZIP
    return gzip.open(path) if compressed else path.open("rb")


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
        self._known[key] = text = orjson.dumps(obj)
        self._room -= len(text)
        while self._room < 0:
            _, oldest = self._known.popitem(last=False)
            self._room += len(oldest)

    def forget(self, key: tuple[str, ...]) -> None:
        self._room += len(self._known.pop(key, b""))
