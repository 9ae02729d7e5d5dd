"""A control plane that runs: etcd and kube-apiserver on free ports of this machine, with an administrator's kubeconfig."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from .binaries import Binaries
from .versions import HERE, ControlPlaneError

CRDS: Final = HERE / "crds"
_MEMORY: Final = Path("/dev/shm")  # noqa: S108  it holds a private folder of ours, as mkdtemp makes it
_PATIENCE: Final = 60.0
"""Seconds to become ready, or to stop: it takes about five."""


class ControlPlane:
    """Starts when it is entered, with the CRDs of the kinds that policies look at; stops when it is left."""

    def __init__(self, binaries: Binaries) -> None:
        self.binaries = binaries
        self.url = ""
        self._token = secrets.token_hex(16)
        self._stack = ExitStack()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def kubeconfig(self) -> Path:
        return self._folder / "kubeconfig"

    def __enter__(self) -> Self:
        """Start. Raises ControlPlaneError with the end of a log if it does not become ready."""
        memory = _MEMORY if os.access(_MEMORY, os.W_OK) else None
        self._folder = Path(tempfile.mkdtemp(prefix="cozyguard-controlplane-", dir=memory))
        self._stack.callback(shutil.rmtree, self._folder)
        self._stack.callback(self._stop)
        try:
            self._start()
            self.install(CRDS)
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def kubectl(self, *arguments: str) -> str:
        """Run kubectl as the administrator, and give what it prints. Raises ControlPlaneError if it fails."""
        command = [str(self.binaries.kubectl), "--kubeconfig", str(self.kubeconfig), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ControlPlaneError(f"`kubectl {' '.join(arguments)}` failed: {done.stderr}")
        return done.stdout

    def install(self, crds: Path) -> None:
        """Install the CRDs of a folder, and wait until they are served."""
        self.kubectl("apply", "--server-side", "--filename", str(crds))
        self.kubectl("wait", "--for=condition=Established", "--timeout=30s", "--filename", str(crds))

    def _start(self) -> None:
        port, etcd_port, peer_port = _free_ports(3)
        self.url = f"https://127.0.0.1:{port}"
        store = f"http://127.0.0.1:{etcd_port}"
        self._run(self.binaries.etcd, _etcd_flags(self._folder, store, f"http://127.0.0.1:{peer_port}"))
        self._run(self.binaries.apiserver, self._apiserver_flags(store, port))
        self._wait_until_ready()
        self._write_kubeconfig()

    def _apiserver_flags(self, store: str, port: int) -> dict[str, Any]:
        key = self._folder / "service-accounts.key"
        key.write_bytes(_private_key())
        tokens = self._folder / "tokens.csv"
        tokens.write_text(f"{self._token},admin,admin,system:masters\n")
        return {
            "etcd-servers": store,
            "bind-address": "127.0.0.1",
            "secure-port": port,
            "cert-dir": self._folder,
            "token-auth-file": tokens,
            "authorization-mode": "RBAC",
            "service-account-issuer": "https://localhost",
            "service-account-key-file": key,
            "service-account-signing-key-file": key,
            "service-cluster-ip-range": "10.0.0.0/24",
            "allow-privileged": "true",
            "disable-admission-plugins": "ServiceAccount",  # nobody makes the accounts that it asks for
            "endpoint-reconciler-type": "none",
        }

    def _run(self, program: Path, flags: dict[str, Any]) -> None:
        """Start a program in a session of its own: Ctrl-C must not end etcd before the API server."""
        command = [str(program), *(f"--{name}={value}" for name, value in flags.items())]
        with (self._folder / f"{program.name}.log").open("wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        self._processes[program.name] = process

    def _wait_until_ready(self) -> None:
        end = time.monotonic() + _PATIENCE
        while not self._ready():
            for name, process in self._processes.items():
                if process.poll() is not None or time.monotonic() > end:
                    log = self._folder / f"{name}.log"
                    raise ControlPlaneError(f"the control plane did not start: {log.read_text()[-2000:]}")
            time.sleep(0.05)

    def _ready(self) -> bool:
        certificate = self._folder / "apiserver.crt"
        if not certificate.exists():
            return False
        headers = {"Authorization": f"Bearer {self._token}"}
        request = urllib.request.Request(f"{self.url}/readyz", headers=headers)  # noqa: S310  our own URL
        try:
            trust = ssl.create_default_context(cafile=str(certificate))
            with urllib.request.urlopen(request, context=trust, timeout=5):  # noqa: S310  our own URL
                return True
        except OSError:
            return False

    def _write_kubeconfig(self) -> None:
        cluster = {"server": self.url, "certificate-authority": str(self._folder / "apiserver.crt")}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "cozyguard", "cluster": cluster}],
            "users": [{"name": "admin", "user": {"token": self._token}}],
            "contexts": [{"name": "cozyguard", "context": {"cluster": "cozyguard", "user": "admin"}}],
            "current-context": "cozyguard",
        }
        self.kubeconfig.write_text(json.dumps(config, indent=2))

    def _stop(self) -> None:
        """Stop the API server, then etcd: without etcd the API server would take a minute to give up."""
        for process in reversed(self._processes.values()):
            process.terminate()
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _etcd_flags(folder: Path, url: str, peer: str) -> dict[str, Any]:
    return {
        "data-dir": folder / "etcd",
        "listen-client-urls": url,
        "advertise-client-urls": url,
        "listen-peer-urls": peer,
        "initial-advertise-peer-urls": peer,
        "initial-cluster": f"default={peer}",
        "unsafe-no-fsync": "true",
        "log-level": "warn",
    }


def _private_key() -> bytes:
    """Make the key that service accounts' tokens are signed with."""
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL
    return ec.generate_private_key(ec.SECP256R1()).private_bytes(encoding, form, serialization.NoEncryption())


def _free_ports(count: int) -> list[int]:
    """Ask the system for ports; all at once, so that they differ."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in sockets]
