"""`--record`: reviews, without secrets, one JSON line each, for `cozyguard replay`."""

from __future__ import annotations

import os
import random
import threading
from datetime import UTC, datetime
from pathlib import Path
from queue import Full, Queue
from typing import Final

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

_Job = tuple[AdmissionRequest, bool, PolicySet, datetime]


class Recorder:
    """Writes a share of the reviews in a thread of its own: no review waits for a disk.

    Several processes write one file: each line is one write at its end.
    """

    def __init__(self, file: Path, percent: float, limit: int, log: Log) -> None:
        """Open the file, for its owner alone; at `limit` bytes it is full. Raises UsageError."""
        try:
            self._file = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        except OSError as error:
            raise UsageError(
                f"--record: `{file}` cannot be written: {(error.strerror or str(error)).lower()}"
            ) from None
        self._name, self._share, self._limit, self._log = str(file), percent / 100, limit, log
        self._written = self._dropped = 0
        self._full = False
        self._jobs: Queue[_Job | None] = Queue(_WAITING)
        self._thread = threading.Thread(target=self._work, name="recorder", daemon=True)
        self._thread.start()

    def take(self, request: AdmissionRequest, policies: PolicySet, *, allowed: bool) -> None:
        """Write a review soon, if it is one of the share."""
        if self._full or random.random() >= self._share:  # noqa: S311 - a sample, no secret
            return
        try:
            self._jobs.put_nowait((request, allowed, policies, datetime.now(UTC)))
        except Full:
            self._dropped += 1

    def close(self) -> None:
        """Write what waits, and be done."""
        self._jobs.put(None)
        self._thread.join()
        os.close(self._file)

    def samples(self) -> Samples:
        """Tell Prometheus the numbers."""
        return {"cozyguard_recorded_reviews_total": [["written", self._written], ["dropped", self._dropped]]}

    def _work(self) -> None:
        while job := self._jobs.get():
            if self._full:
                continue
            try:
                self._write(_line(*job))
            except RecursionError:  # an object that nobody could read anyway
                self._dropped += 1
            except OSError as error:
                self._stop(error.strerror or str(error))

    def _write(self, line: bytes) -> None:
        if os.fstat(self._file).st_size + len(line) > self._limit:
            self._stop("it is full")
            return
        os.write(self._file, line)
        self._written += 1

    def _stop(self, reason: str) -> None:
        self._full = True
        self._log.warning("no more reviews are recorded", file=self._name, reason=reason.lower())


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
