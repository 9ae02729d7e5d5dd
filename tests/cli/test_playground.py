"""`cozyguard playground`, the command; its page is tested in a browser, its server over HTTP."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from webhook.cli import playground
from webhook.engine.context import DEFAULT_CONFIGURATION
from webhook.sources import compiled
from webhook.sources.bundled import bundled

POLICY = bundled() / "packages" / "package-variant-known"


def test_it_prints_its_address_opens_it_and_ends_by_a_signal(cache: Path, tmp_path: Path) -> None:
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {opened}.new && mv {opened}.new {opened}\n')
    browser.chmod(0o755)
    command = [sys.executable, "-m", "webhook", "playground", "--policies", str(POLICY), "--open"]
    environment = os.environ | {"XDG_CACHE_HOME": str(cache), "BROWSER": f"{browser} %s"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout
        first, second = process.stdout.readline(), process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        assert process.wait(15) == 0
    assert first.startswith("the playground is at http://127.0.0.1:")
    assert second == "Ctrl-C ends it\n"
    assert opened.read_text() == first.split()[-1]


def test_a_port_that_is_taken_is_told(cozyguard: Callable[..., Any]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        answer = cozyguard("playground", "--policies", str(POLICY), "--port", str(taken.getsockname()[1]))
    assert answer.code == 2
    assert "cannot listen on `127.0.0.1:" in answer.err


@pytest.fixture
def made(cache: Path, monkeypatch: pytest.MonkeyPatch) -> playground.Backend:
    """What answers the page, with one policy to start from."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    policies = [one.policy for one in compiled.load([POLICY]).policies]
    return playground.Backend(policies, DEFAULT_CONFIGURATION)


def test_every_case_of_a_policy_can_be_tried_and_ends_as_it_expects(made: playground.Backend) -> None:
    assert [one["name"] for one in made.starts()] == ["package-variant-known"]
    start = made.start("package-variant-known")
    assert len(start["cases"]) > 10
    for case in start["cases"]:
        tried = made.attempt({**case["given"], "policy": start["policy"]})
        assert tried["errors"] == []
        assert tried["allowed"] == (case["expects"] != "deny"), case["name"]


def test_what_cannot_be_answered_is_said(made: playground.Backend) -> None:
    with pytest.raises(ValueError, match="did you mean `package-variant-known`"):
        made.start("package-variant-know")
    wrong: list[Any] = [[], {"policy": 1}]
    for given in wrong:
        with pytest.raises(ValueError, match="want a map of texts: policy, object, old"):
            made.attempt(given)
