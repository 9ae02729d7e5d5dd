"""JSON lines on stderr, one line one write; never an object, never a message that quotes one."""

from __future__ import annotations

import asyncio
import logging
import re
import sys
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from traceback import extract_tb
from typing import Any, Final

import orjson
from aiohttp.http_exceptions import HttpProcessingError

from webhook.model.decision import Decision, Excused, Finding
from webhook.model.request import AdmissionRequest

_RANK: Final = {"debug": 10, "info": 20, "warning": 30, "error": 40}
LONGEST: Final = 256
"""Characters kept of what the request names: a name may be megabytes long until something refuses it."""
_MOST_VERDICTS: Final = 50
_SOON: Final = 0.05
"""Seconds that the line of a review may wait for others."""
_AT_ONCE: Final = 4096
"""Bytes (PIPE_BUF): less than this is written whole, so that lines of several processes do not mix."""


class Log:
    """Where the server writes what it does; `level` is the least important level that is written.

    The lines of reviews are written a few at a time, and soon: waking whoever reads the pipe costs more than all
    else that a line needs (11 against 3 microseconds). Other lines go out at once.
    """

    def __init__(self, level: str = "info") -> None:
        """Take the stream as it is now, so that nothing later redirects it."""
        self._least = _RANK[level]
        self._stream = sys.stderr.buffer
        self._waiting = bytearray()

    def info(self, msg: str, **fields: Any) -> None:
        """Write what goes on as it should."""
        self._write("info", msg, fields)

    def warning(self, msg: str, **fields: Any) -> None:
        """Write what somebody may want to look at."""
        self._write("warning", msg, fields)

    def error(self, msg: str, **fields: Any) -> None:
        """Write what somebody has to look at."""
        self._write("error", msg, fields)

    def decision(self, endpoint: str, request: AdmissionRequest, decision: Decision, seconds: float) -> None:
        """Write the one line of a review: who asked for what, and what each rule made of it."""
        level = "info" if decision.allowed else "warning"
        if _RANK[level] < self._least:
            return
        user = request.user
        fields: dict[str, Any] = {
            "uid": request.uid[:LONGEST],
            "endpoint": endpoint,
            "operation": request.operation,
            "kind": request.kind.kind[:LONGEST],
            "namespace": request.namespace[:LONGEST],
            "name": request.display_name[:LONGEST],
            "user": user.username[:LONGEST] if user else "",
            "allowed": decision.allowed,
        }
        if request.dry_run:
            fields["dryRun"] = True
        if decision.findings:
            fields["verdicts"] = _verdicts(decision.findings)
        if decision.excused:
            fields["excused"] = _excuses(decision.excused)
        if decision.changes:
            fields["patched"] = [change.policy.name for change in decision.changes]
        fields["ms"] = round(seconds * 1000, 3)
        self._write_soon(_line(level, "review", fields))

    def flush(self) -> None:
        """Write the lines that wait."""
        waiting, self._waiting = self._waiting, bytearray()
        self._write_now(waiting)

    def _write_soon(self, line: bytes) -> None:
        if not self._waiting:
            asyncio.get_running_loop().call_later(_SOON, self.flush)
        elif len(self._waiting) + len(line) > _AT_ONCE:
            self._write_now(self._waiting)
            self._waiting.clear()
        self._waiting += line

    def _write(self, level: str, msg: str, fields: dict[str, Any]) -> None:
        if _RANK[level] >= self._least:
            self._write_now(_line(level, msg, fields))

    def _write_now(self, lines: bytes | bytearray) -> None:
        with suppress(OSError):  # a review is not refused because nobody reads the log
            self._stream.write(lines)
            self._stream.flush()


def _line(level: str, msg: str, fields: dict[str, Any]) -> bytes:
    line = {"time": datetime.now(UTC), "level": level, "msg": msg} | fields
    return orjson.dumps(line, default=str, option=orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE)


def start_log(level: str) -> Log:
    """Make the log of a process; what libraries log goes there too."""
    log = Log(level)
    logging.basicConfig(handlers=[_Forward(log)], force=True)
    return log


def _verdicts(findings: Iterable[Finding]) -> list[dict[str, str]]:
    """Name each rule and what became of it, once however many elements broke it."""
    seen = dict.fromkeys((one.policy.name, one.rule, one.outcome.value) for one in findings)
    return [
        {"policy": policy, "rule": rule, "outcome": outcome} for policy, rule, outcome in list(seen)[:_MOST_VERDICTS]
    ]


def _excuses(excused: Iterable[Excused]) -> list[dict[str, str]]:
    """Name each rule that an exception let pass, once."""
    seen = dict.fromkeys((one.finding.policy.name, one.finding.rule, one.exception.name) for one in excused)
    return [
        {"policy": policy, "rule": rule, "exception": exception}
        for policy, rule, exception in list(seen)[:_MOST_VERDICTS]
    ]


def failure(error: BaseException) -> dict[str, Any]:
    """Describe a failure of our own by its type and place: its message may quote the object."""
    frames = extract_tb(error.__traceback__)
    places = [f"{frame.filename.rpartition('webhook/')[2]}:{frame.lineno} {frame.name}" for frame in frames[-8:]]
    return {"error": type(error).__name__, "at": places}


_PLACEHOLDER: Final = re.compile(r"( from|:)? %[sdr]")
"""Where a record's message names its arguments."""


class _Forward(logging.Handler):
    """Hands on what libraries log (failed handshakes, connections lost), as lines of ours."""

    def __init__(self, log: Log) -> None:
        """Forward warnings and errors to this log."""
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write the constant part of the record; its arguments may hold what clients sent."""
        fields: dict[str, Any] = {"logger": record.name}
        error = record.exc_info[1] if record.exc_info else None
        if error:
            fields |= failure(error)
        ours = record.levelno >= logging.ERROR and not isinstance(error, (ConnectionError, HttpProcessingError))
        level = self._log.error if ours else self._log.warning
        level(_PLACEHOLDER.sub("", str(record.msg).partition("\n")[0]), **fields)
