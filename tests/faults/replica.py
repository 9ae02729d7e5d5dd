"""One of several `cozyguard serve` behind a balancer, with the life of a pod's process."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.e2e.kubectl import PATIENCE, until


class Replica:
    """It keeps its ports, however often it is stopped and started."""

    def __init__(self, log: Path, flags: Mapping[str, object]) -> None:
        with ExitStack() as stack:
            sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(2)]
            self.port, self.probe_port = (each.getsockname()[1] for each in sockets)
        self._log = log
        self._flags = {"host": "127.0.0.1", "port": self.port, "probe-port": self.probe_port} | dict(flags)
        self._process: subprocess.Popen[bytes] | None = None

    def told(self, flags: Mapping[str, object]) -> None:
        """Start with these flags, too."""
        self._flags |= flags

    @property
    def pid(self) -> int:
        assert self._process
        return self._process.pid

    def launch(self) -> None:
        """Start."""
        command = [sys.executable, "-m", "webhook", "serve", *(f"--{k}={v}" for k, v in self._flags.items())]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(command, stderr=log)

    def wait(self) -> None:
        """Return when it is ready."""
        until(lambda: self.status()["ready"])

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """Ask it to stop, and return when it has ended as it should."""
        if self._process:
            self._process.send_signal(how)
            assert self._process.wait(PATIENCE) == 0, self._log.read_text()[-2000:]
        self._process = None

    def kill(self) -> None:
        """Send SIGKILL: no drain, no goodbye."""
        assert self._process
        self._process.kill()
        self._process.wait(PATIENCE)
        self._process = None

    def status(self) -> dict[str, Any]:
        """Read what it says of itself; `ready` is false while it does not answer."""
        assert self._process
        assert self._process.poll() is None, self._log.read_text()[-2000:]
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.probe_port}/readyz", timeout=5) as answer:
                status: dict[str, Any] = json.load(answer)
        except OSError:
            return {"ready": False}
        return status

    @property
    def policies(self) -> dict[str, Any]:
        """What it says of its policies."""
        told: dict[str, Any] = self.status()["workers"][0]["policies"]
        return told
