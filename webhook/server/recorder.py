"""`--record`: reviews, without secrets, one JSON line each, for `cozyguard replay`."""

from __future__ import annotations

import os
import random
import threading
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from queue import Full, Queue
from typing import Final, Literal

import orjson

from webhook.admission.codec import API_VERSION
from webhook.engine.policyset import PolicySet
from webhook.engine.redact import redact
from webhook.engine.secrecy import sensitive
from webhook.errors import UsageError
from webhook.model.request import AdmissionRequest
from webhook.server.logs import Log
from webhook.server.metrics import Samples

_WAITING: Final = 64
"""Reviews that wait to be written; what comes while so many do is dropped. Each holds its object, 3 MiB at most."""

_PATIENCE: Final = 5.0
"""Seconds that the end of the server waits for a disk."""

_Job = tuple[AdmissionRequest, bool, PolicySet, datetime]


class Recorder:
    """Writes a share of the reviews in a thread of its own: no review waits for a disk.

    Several processes write one file: each line is one write at its end. A file that somebody has moved away or removed,
    as logrotate does, is begun anew.
    """

    def __init__(self, file: Path, percent: float, limit: int, log: Log) -> None:
        """Open the file, one that is new for its owner alone; at `limit` bytes it is full. Raises UsageError."""
        self._name, self._share, self._limit, self._log = file, percent / 100, limit, log
        try:
            self._file = _open(file)
        except OSError as error:
            raise UsageError(f"--record: `{file}` cannot be written: {_reason(error)}") from None
        self._written = self._dropped = 0
        self._stopped = False
        self._jobs: Queue[_Job | None] = Queue(_WAITING)
        self._thread = threading.Thread(target=self._work, name="recorder", daemon=True)
        self._thread.start()

    def take(self, request: AdmissionRequest, policies: PolicySet, *, allowed: bool) -> None:
        """Write a review soon, if it is one of the share."""
        if random.random() >= self._share:  # noqa: S311 - a sample, no secret
            return
        try:
            self._jobs.put_nowait((request, allowed, policies, datetime.now(UTC)))
        except Full:
            self._dropped += 1

    def close(self) -> None:
        """Write what waits, and be done; a disk that does not answer is not waited for."""
        with suppress(Full):
            self._jobs.put(None, timeout=_PATIENCE)
        self._thread.join(_PATIENCE)
        if not self._thread.is_alive():
            os.close(self._file)

    def samples(self) -> Samples:
        """Tell Prometheus the numbers."""
        return {"cozyguard_recorded_reviews_total": [["written", self._written], ["dropped", self._dropped]]}

    def _work(self) -> None:
        while job := self._jobs.get():
            try:
                written = self._record(job)
            except (RecursionError, orjson.JSONEncodeError):  # an object deeper than anybody could read
                written = False
            except OSError as error:
                written = self._stop(_reason(error))
            self._written += written
            self._dropped += not written

    def _record(self, job: _Job) -> bool:
        """Write a line; tell whether it is written. Raises OSError, RecursionError and JSONEncodeError."""
        self._follow()
        if self._stopped:
            return False
        line = _line(*job)
        if os.fstat(self._file).st_size + len(line) > self._limit:
            return self._stop("it is full")
        if os.write(self._file, line) < len(line):
            return self._stop("no space left on device")
        return True

    def _follow(self) -> None:
        """Open the file anew where another one, or none, stands at its place. Raises OSError."""
        with suppress(FileNotFoundError):
            if os.path.samestat(self._name.stat(), os.fstat(self._file)):
                return
        before, self._file = self._file, _open(self._name)
        os.close(before)
        self._stopped = False

    def _stop(self, reason: str) -> Literal[False]:
        if not self._stopped:
            self._log.warning("no more reviews are recorded", file=str(self._name), reason=reason)
        self._stopped = True
        return False


def _open(file: Path) -> int:
    return os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _line(request: AdmissionRequest, allowed: bool, policies: PolicySet, at: datetime) -> bytes:
    fields = (field for one in policies.policies for field in sensitive(one.policy))
    review = {
        "apiVersion": API_VERSION,
        "kind": "AdmissionReview",
        "recordedAt": at,
        "request": redact(request, fields),
        "response": {"uid": request.uid, "allowed": allowed},
    }
    return orjson.dumps(review, option=orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE)
