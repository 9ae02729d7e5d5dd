"""Audits of the cluster by the replica that leads: `cozyguard audit` in a process of its own, now and then."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import orjson

from webhook.server.logs import Log
from webhook.server.metrics import Samples
from webhook.server.settings import PREFIX, Settings

_FIRST: Final = 60.0
"""Seconds after which a new leader begins: leaders change in quick succession when all pods are replaced."""
_AGAIN: Final = 600.0
"""Seconds after which an audit that failed is tried again."""
_HOUR: Final = 3600.0
_PATIENCE: Final = 5.0
"""Seconds that an audit has to end, once somebody else leads."""
_LONGEST: Final = 2000
"""Bytes kept of what an audit complains of: its end."""


class Auditing:
    """Runs audits while it is run, and keeps what the last one counted."""

    def __init__(self, settings: Settings, log: Log) -> None:
        """Audit nothing yet."""
        self._command = [sys.executable, "-P", "-m", "webhook", *arguments(settings)]
        self._every, self._log = settings.audit_every * _HOUR, log
        self._last: dict[str, Any] = {}
        self._seconds = self._finished = 0.0
        self._runs: Counter[str] = Counter()

    async def run(self) -> None:
        """Audit again and again, until cancelled: what somebody else finds then is not told here."""
        wait = min(_FIRST, self._every)
        try:
            while True:
                await asyncio.sleep(wait)
                started = time.monotonic()
                done = await self._audit()
                self._seconds = time.monotonic() - started
                wait = max(self._every - self._seconds, 0) if done else min(_AGAIN, self._every)
        finally:
            self._last = {}

    def samples(self) -> Samples:
        """Tell Prometheus what the last audit has found."""
        runs: Samples = {"cozyguard_audits_total": [[result, number] for result, number in self._runs.items()]}
        if not self._last:
            return runs
        summary = self._last["summary"]
        return runs | {
            "cozyguard_audit_findings": list(_by_policy(self._last)),
            "cozyguard_audit_objects": [["all", summary["resources"]], ["denied", summary["resourcesDenied"]]],
            "cozyguard_audit_duration_seconds": [[self._seconds]],
            "cozyguard_audit_last_success_timestamp_seconds": [[self._finished]],
        }

    async def _audit(self) -> bool:
        """Audit once; tell whether there is a result."""
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command, stdout=PIPE, stderr=PIPE, env=_environment(os.environ)
            )
        except OSError as error:  # no memory or process left for it: the server goes on
            return self._take(None, b"", str(error).encode())
        _let_it_die_first(process)
        try:
            out, complaints = await _read(process)
        finally:
            if process.returncode is None:  # somebody else leads now
                await _end(process)
        return self._take(process.returncode, out, complaints)

    def _take(self, code: int | None, out: bytes, complaints: bytes) -> bool:
        result = {0: "complete", 2: "incomplete"}.get(code if code is not None else -1, "failed")
        document = _document(out) if result != "failed" else None
        if document is None:
            result = "failed"
        self._runs[result] += 1
        said = complaints.decode(errors="replace")
        if document is None:
            self._log.error("audit failed", code=code, said=said)
            return False
        self._last, self._finished = document, time.time()
        tell = self._log.info if result == "complete" else self._log.warning
        tell("audited", result=result, said=said, **document["summary"])
        return True


def arguments(settings: Settings) -> list[str]:
    """Write the command line: the policies, the release and the cluster of the server itself."""
    given: list[tuple[str, object]] = [
        ("--kubeconfig", settings.kubeconfig),
        ("--context", settings.context),
        ("--config", settings.config),
        ("--release", settings.release),
        ("--report", settings.audit_report),
        *(("--policies", path) for path in settings.policies),
        *(("--add-policies", path) for path in settings.add_policies),
    ]
    flags = [f"{flag}={value}" for flag, value in given if value]
    # Findings are told by --report and --events; here they are only counted.
    return ["audit", *flags, "--events", "--output=json", "--max-findings=1", "--fail-on=nothing"]


def _environment(server: Mapping[str, str]) -> dict[str, str]:
    """Leave out what the server is told by variables: the same names mean something else to an audit."""
    return {name: value for name, value in server.items() if not name.startswith(PREFIX)}


async def _read(process: Process) -> tuple[bytes, bytes]:
    """Wait for the end; gives the output, and the end of the complaints, which may be a line for each object."""
    assert process.stdout  # noqa: S101 - both are pipes
    assert process.stderr  # noqa: S101
    out, complaints = await asyncio.gather(process.stdout.read(), _end_of(process.stderr))
    await process.wait()
    return out, complaints


async def _end_of(stream: asyncio.StreamReader) -> bytes:
    kept = b""
    while piece := await stream.read(1 << 16):
        kept = (kept + piece)[-_LONGEST:]
    return kept


async def _end(process: Process) -> None:
    """End an audit, which reports what it has found; if that takes long it does not.

    What it says is read to its end: asyncio takes no process for ended as long as there is something in its pipes.
    """
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        await asyncio.wait_for(_read(process), _PATIENCE)
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        await _read(process)


def _by_policy(document: dict[str, Any]) -> Iterator[list[Any]]:
    for policy, outcomes in document["byPolicy"].items():
        for outcome, number in outcomes.items():
            yield [policy, outcome, number]


def _document(out: bytes) -> dict[str, Any] | None:
    try:
        document: dict[str, Any] = orjson.loads(out)
    except orjson.JSONDecodeError:
        return None
    return document


def _let_it_die_first(process: Process) -> None:
    """Have the kernel end the audit rather than the server where the pod's memory does not do for both."""
    with suppress(OSError):
        Path(f"/proc/{process.pid}/oom_score_adj").write_text("1000", encoding="ascii")
