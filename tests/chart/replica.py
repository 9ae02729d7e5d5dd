"""A replica without a pod: what the Deployment says, with the files that it mounts and its account's rights."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.chart.helm import NAMESPACE, RELEASE, Object
from tests.controlplane.plane import ControlPlane
from tests.e2e.kubectl import PATIENCE, until

_MOUNTS = {"/etc/cozyguard/config": RELEASE, "/etc/cozyguard/policies": f"{RELEASE}-policies"}
"""The ConfigMap that is mounted at a folder."""


class Pod:
    """What a pod of the release has: its arguments, the files that it mounts, below a folder, and its account's rights."""

    def __init__(self, plane: ControlPlane, folder: Path, account: str = RELEASE) -> None:
        self.plane, self.folder, self.account = plane, folder, account

    def arguments(self, template: Object) -> list[str]:
        """Give those of the one container, with the paths and the cluster of this machine."""
        for path, name in _MOUNTS.items():
            if path in str(template):
                self._mount(path, name)
        (container,) = template["spec"]["containers"]
        given = [self._below(one) for one in container["args"] if one != "--in-cluster"]
        return [*given, f"--kubeconfig={self._kubeconfig()}"]

    def read(self, kind: str, name: str) -> Object:
        """Read an object of the release's namespace."""
        found: Object = json.loads(self.plane.kubectl("get", kind, name, f"--namespace={NAMESPACE}", "--output=json"))
        return found

    def _mount(self, path: str, name: str) -> None:
        folder = Path(self._below(path))
        folder.mkdir(parents=True)
        for file, text in self.read("configmap", name)["data"].items():
            (folder / file).write_text(text)

    def _below(self, text: str) -> str:
        return text.replace("/etc/cozyguard", str(self.folder))

    def _kubeconfig(self) -> Path:
        """Write the administrator's kubeconfig anew, with a token of the account that the pod has."""
        config = json.loads(self.plane.kubeconfig.read_text())
        token = self.plane.kubectl("create", "token", self.account, f"--namespace={NAMESPACE}").strip()
        config["users"][0]["user"] = {"token": token}
        file = self.folder / "kubeconfig"
        file.write_text(json.dumps(config))
        return file


class Replica(Pod):
    """Runs the command of the Deployment on this machine; ready when it is entered."""

    def __init__(self, plane: ControlPlane, folder: Path) -> None:
        super().__init__(plane, folder)
        with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
            self.port, self.probe_port = one.getsockname()[1], other.getsockname()[1]

    def __enter__(self) -> Self:
        with (self.folder / "log").open("wb") as log:
            self._process = subprocess.Popen([sys.executable, "-m", "webhook", *self._arguments()], stderr=log)
        until(self._answers)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        assert self._process.wait(PATIENCE) == 0

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text()

    @property
    def release(self) -> str:
        (worker,) = self._ready_page()["workers"]
        release: str = worker["release"]
        return release

    def _arguments(self) -> list[str]:
        """What the Deployment says, with the ways in and out of this machine in place of the cluster's."""
        return [
            *self.arguments(self.read("deployment", RELEASE)["spec"]["template"]),
            f"--namespace={NAMESPACE}",
            f"--webhook-url=https://127.0.0.1:{self.port}",
            "--host=127.0.0.1",
            f"--port={self.port}",
            f"--probe-port={self.probe_port}",
        ]

    def _answers(self) -> bool:
        assert self._process.poll() is None, self.log
        try:
            return bool(self._ready_page()["ready"])
        except OSError:
            return False

    def _ready_page(self) -> Object:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.probe_port}/readyz", timeout=5) as answer:
            page: Object = json.load(answer)
            return page
