"""The process that audits, played by a few lines of Python: what becomes of it, and of the server, whatever it does."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from webhook.server import auditing
from webhook.server.auditing import Auditing
from webhook.server.logs import Log
from webhook.server.settings import Settings

Play = Callable[..., Auditing]
DOCUMENT = {"summary": {"resources": 3, "resourcesDenied": 1}, "byPolicy": {"colour": {"deny": 1}}}


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Play:
    monkeypatch.setattr(auditing, "_FIRST", 0)
    monkeypatch.setattr(auditing, "_PATIENCE", 0.2)

    def made(*command: str) -> Auditing:
        auditor = Auditing(Settings(audit_every=1), Log())
        auditor._command = list(command)
        return auditor

    return made


def python(*lines: str) -> tuple[str, ...]:
    return sys.executable, "-S", "-c", "\n".join(("import json, os, signal, sys, time", *lines))


async def ended(auditor: Auditing) -> dict[str, Any]:
    """Give the numbers after the first audit."""
    running = asyncio.create_task(auditor.run())
    while not auditor.samples()["cozyguard_audits_total"] and not running.done():
        await asyncio.sleep(0.01)
    samples = auditor.samples()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    return samples


def test_before_the_first_audit_there_is_nothing_to_tell(play: Play) -> None:
    assert play("true").samples() == {"cozyguard_audits_total": []}


async def test_megabytes_of_complaints_are_read_and_their_end_is_logged(
    play: Play, capfd: pytest.CaptureFixture[str]
) -> None:
    command = python("sys.stderr.write('x' * (8 << 20) + 'the end')", f"print(json.dumps({DOCUMENT}))", "sys.exit(2)")
    samples = await ended(play(*command))
    assert samples["cozyguard_audits_total"] == [["incomplete", 1]]
    assert samples["cozyguard_audit_findings"] == [["colour", "deny", 1]]
    line = json.loads(capfd.readouterr().err)
    assert len(line["said"]) == 2000
    assert line["said"].endswith("the end")


@pytest.mark.parametrize(
    "command",
    [
        ("/nowhere/python",),
        python("sys.exit(1)"),
        python("os.kill(os.getpid(), signal.SIGKILL)"),
        python("print('no JSON')"),
    ],
    ids=["cannot be started", "fails", "is killed", "says something else"],
)
async def test_whatever_becomes_of_an_audit_the_server_goes_on(
    play: Play, command: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    assert await ended(play(*command)) == {"cozyguard_audits_total": [["failed", 1]]}
    assert json.loads(capfd.readouterr().err)["msg"] == "audit failed"


@pytest.mark.parametrize(
    "does",
    [
        "",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)",
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit('x' * (8 << 20)))",
    ],
    ids=["ends when told", "does not end when told", "still has much to say"],
)
async def test_an_audit_ends_with_the_lead(play: Play, tmp_path: Path, does: str) -> None:
    begun = tmp_path / "begun"
    command = python(does, "open(sys.argv[1], 'w').write(str(os.getpid()))", "time.sleep(600)")
    running = asyncio.create_task(play(*command, str(begun)).run())
    while not (begun.exists() and begun.read_text()):
        await asyncio.sleep(0.01)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    with pytest.raises(ProcessLookupError):
        os.kill(int(begun.read_text()), 0)


async def test_what_the_server_is_told_by_variables_is_not_what_the_audit_is_told(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COZYGUARD_NAMESPACE", "of our Lease")
    monkeypatch.setenv("KUBECONFIG", "kept")
    told = tmp_path / "told"
    await ended(play(*python("json.dump(dict(os.environ), open(sys.argv[1], 'w'))"), str(told)))
    environment = json.loads(told.read_text())
    assert "COZYGUARD_NAMESPACE" not in environment
    assert environment["KUBECONFIG"] == "kept"
