"""A control plane that runs: etcd and kube-apiservers on free ports of this machine, with an administrator's kubeconfig."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from .binaries import Binaries
from .started import Started
from .versions import HERE, ControlPlaneError

CRDS: Final = HERE / "crds"
_MEMORY: Final = Path("/dev/shm")  # noqa: S108  it holds a private folder of ours, as mkdtemp makes it
_PATIENCE: Final = 60.0
"""Seconds to become ready, or to stop: it takes about five."""

_AUDITED: Final = "audited"
_RECORDED: Final = "recorded"
_AUDIT_POLICY: Final = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {"level": "Metadata", "users": [_AUDITED]},
        {"level": "RequestResponse", "users": [_RECORDED]},
        {"level": "None"},
    ],
}

_MUTATING_IS_BETA: Final = ("1.34", "1.35")
_BETA: Final = {
    "feature-gates": "MutatingAdmissionPolicy=true",
    "runtime-config": "admissionregistration.k8s.io/v1beta1=true",
}
"""What these minors need to have MutatingAdmissionPolicies, which are v1 from 1.36 on."""


class ControlPlane(Started):
    """Starts when it is entered, with the CRDs of the kinds that policies look at; stops when it is left.

    Several API servers share one etcd, certificate and token; the kubeconfig is of the first.
    """

    def __init__(self, binaries: Binaries, *, apiservers: int = 1) -> None:
        super().__init__()
        self.binaries = binaries
        self.urls: list[str] = []
        self.token = secrets.token_hex(16)
        self.audited_token = secrets.token_hex(16)
        self.recorded_token = secrets.token_hex(16)
        self._count = apiservers
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def url(self) -> str:
        return self.urls[0]

    @property
    def kubeconfig(self) -> Path:
        return self._folder / "kubeconfig"

    @property
    def certificate(self) -> Path:
        """The certificate to trust."""
        return self._folder / "apiserver.crt"

    @property
    def mutating_version(self) -> str:
        """The version of `admissionregistration.k8s.io` that MutatingAdmissionPolicies have."""
        return "v1beta1" if self.binaries.minor in _MUTATING_IS_BETA else "v1"

    @property
    def audit_log(self) -> Path:
        """What the first API server was asked with `audited_token`, and with `recorded_token`, which has objects, too.

        Both are an administrator's. One event a line.
        """
        return self._folder / f"{_apiserver(0)}.audit"

    @property
    def pid(self) -> int:
        """The process of the first API server."""
        return self._processes[_apiserver(0)].pid

    def compact(self) -> None:
        """Have etcd forget what was before now."""
        now = self._etcd("maintenance/status", {})["header"]["revision"]
        self._etcd("kv/compaction", {"revision": now, "physical": True})

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

    def restart(self, index: int) -> None:
        """Stop an API server as its manager does, and start it again on its port; ready when this returns."""
        self._end(self._processes.pop(_apiserver(index)))
        self._run_apiserver(index)

    @contextmanager
    def another(self, **flags: str) -> Iterator[str]:
        """Run one more API server on the same store while the block runs, with other flags; gives its URL."""
        (port,) = _free_ports(1)
        url = f"https://127.0.0.1:{port}"
        index = len(self.urls)
        self._run(_apiserver(index), self.binaries.apiserver, self._apiserver_flags(index, port) | flags)
        try:
            self._wait_until_ready(url)
            yield url
        finally:
            self._end(self._processes.pop(_apiserver(index)))

    @contextmanager
    def etcd_paused(self) -> Iterator[None]:
        """Leave etcd without a turn of the processor for as long as the block runs."""
        etcd = self._processes["etcd"]
        etcd.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            etcd.send_signal(signal.SIGCONT)

    def _etcd(self, method: str, request: dict[str, Any]) -> Any:
        body = json.dumps(request).encode()
        with urllib.request.urlopen(f"{self._store}/v3/{method}", data=body, timeout=10) as answer:  # noqa: S310  our own
            return json.load(answer)

    def _start(self) -> None:
        """Start. Raises ControlPlaneError with the end of a log if it does not become ready."""
        memory = _MEMORY if os.access(_MEMORY, os.W_OK) else None
        self._folder = Path(tempfile.mkdtemp(prefix="cozyguard-controlplane-", dir=memory))
        self._stack.callback(shutil.rmtree, self._folder)
        self._stack.callback(self._stop)
        etcd_port, peer_port, *ports = _free_ports(2 + self._count)
        self.urls = [f"https://127.0.0.1:{port}" for port in ports]
        self._store = f"http://127.0.0.1:{etcd_port}"
        self._run("etcd", self.binaries.etcd, _etcd_flags(self._folder, self._store, f"http://127.0.0.1:{peer_port}"))
        (self._folder / "service-accounts.key").write_bytes(_private_key())
        (self._folder / "tokens.csv").write_text(
            f"{self.token},admin,admin,system:masters\n{self.audited_token},{_AUDITED},{_AUDITED},system:masters\n"
            f"{self.recorded_token},{_RECORDED},{_RECORDED},system:masters\n"
        )
        (self._folder / "audit.yaml").write_text(json.dumps(_AUDIT_POLICY))
        for index in range(self._count):  # one after the other: the first makes the certificate
            self._run_apiserver(index)
        self._write_kubeconfig()
        self.install(CRDS)

    def _run_apiserver(self, index: int) -> None:
        url = self.urls[index]
        self._run(_apiserver(index), self.binaries.apiserver, self._apiserver_flags(index, url.rpartition(":")[2]))
        self._wait_until_ready(url)

    def _apiserver_flags(self, index: int, port: int | str) -> dict[str, Any]:
        key = self._folder / "service-accounts.key"
        beta = _BETA if self.binaries.minor in _MUTATING_IS_BETA else {}
        return {
            **beta,
            "etcd-servers": self._store,
            "bind-address": "127.0.0.1",
            "secure-port": port,
            "cert-dir": self._folder,
            "token-auth-file": self._folder / "tokens.csv",
            "authorization-mode": "RBAC",
            "service-account-issuer": "https://localhost",
            "service-account-key-file": key,
            "service-account-signing-key-file": key,
            "service-cluster-ip-range": "10.0.0.0/24",
            "allow-privileged": "true",
            "disable-admission-plugins": "ServiceAccount",  # nobody makes the accounts that it asks for
            "endpoint-reconciler-type": "none",
            "audit-policy-file": self._folder / "audit.yaml",
            "audit-log-path": self._folder / f"{_apiserver(index)}.audit",
        }

    def _run(self, name: str, program: Path, flags: dict[str, Any]) -> None:
        """Start a program in a session of its own: Ctrl-C must not end etcd before the API server."""
        command = [str(program), *(f"--{name}={value}" for name, value in flags.items())]
        with (self._folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        self._processes[name] = process

    def _wait_until_ready(self, url: str) -> None:
        end = time.monotonic() + _PATIENCE
        while not self._ready(url):
            for name, process in self._processes.items():
                if process.poll() is not None or time.monotonic() > end:
                    log = self._folder / f"{name}.log"
                    raise ControlPlaneError(f"the control plane did not start: {log.read_text()[-2000:]}")
            time.sleep(0.05)

    def _ready(self, url: str) -> bool:
        if not self.certificate.exists():
            return False
        headers = {"Authorization": f"Bearer {self.token}"}
        request = urllib.request.Request(f"{url}/readyz", headers=headers)  # noqa: S310  our own URL
        try:
            trust = ssl.create_default_context(cafile=str(self.certificate))
            with urllib.request.urlopen(request, context=trust, timeout=5):  # noqa: S310  our own URL
                return True
        except OSError:
            return False

    def _write_kubeconfig(self) -> None:
        cluster = {"server": self.url, "certificate-authority": str(self.certificate)}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "cozyguard", "cluster": cluster}],
            "users": [{"name": "admin", "user": {"token": self.token}}],
            "contexts": [{"name": "cozyguard", "context": {"cluster": "cozyguard", "user": "admin"}}],
            "current-context": "cozyguard",
        }
        self.kubeconfig.write_text(json.dumps(config, indent=2))

    def _stop(self) -> None:
        """Stop the API servers, then etcd: without etcd an API server would take a minute to give up."""
        for process in reversed(self._processes.values()):
            self._end(process)

    @staticmethod
    def _end(process: subprocess.Popen[bytes]) -> None:
        process.terminate()
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _apiserver(index: int) -> str:
    return f"kube-apiserver-{index}"


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
