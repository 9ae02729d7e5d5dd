"""A real server for the tests: another process, real sockets, real TLS."""

from __future__ import annotations

import json
import os
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from typing import Any

import pytest
import trustme
from cryptography import x509

PATIENCE = 15.0
"""Seconds: far more than anything here takes, even on a busy machine."""


def until(condition: Callable[[], Any]) -> Any:
    """Wait until a condition gives something true, and return it."""
    end = time.monotonic() + PATIENCE
    while not (met := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
    return met


@dataclass
class Answer:
    """What came back: the HTTP status and the body as JSON."""

    status: int
    json: Any
    headers: dict[str, str]


@dataclass
class Certificates:
    """The folder that the server reads its pair from, and the authority that clients trust."""

    folder: Path
    authority: trustme.CA

    @property
    def cert(self) -> Path:
        return self.folder / "tls.crt"

    @property
    def key(self) -> Path:
        return self.folder / "tls.key"

    def issue(self) -> int:
        """Write a new pair, and return the certificate's serial number."""
        leaf = self.authority.issue_cert("localhost", "127.0.0.1")
        self.key.write_bytes(leaf.private_key_pem.bytes())
        self.cert.write_bytes(b"".join(pem.bytes() for pem in leaf.cert_chain_pems))
        return x509.load_pem_x509_certificate(self.cert.read_bytes()).serial_number

    def context(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        self.authority.configure_trust(context)
        return context


class Server:
    """A `cozyguard serve` that runs."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path, files: Servers, ports: tuple[int, int]) -> None:
        self.process, self.log_file = process, log
        self.policies, self.certificates = files.policies, files.certificates
        self.port, self.probe_port = ports

    def find_ports(self) -> None:
        """Wait until it serves, and read which ports the system has chosen for it."""
        serving = until(lambda: self.alive() and self.logged("serving"))[0]
        self.port, self.probe_port = serving["port"], serving["probePort"]

    def answers(self) -> bool:
        """Is it ready for requests."""
        self.alive()
        try:
            return self.probe("/readyz")[0] == HTTPStatus.OK
        except OSError:
            return False

    def alive(self) -> bool:
        """Return true, or fail the test: a server that has ended is waited for in vain."""
        assert self.process.poll() is None, f"the server ended: {self.log_file.read_text()}"
        return True

    def logs(self) -> list[dict[str, Any]]:
        lines = self.log_file.read_text().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def logged(self, msg: str) -> list[dict[str, Any]]:
        return [line for line in self.logs() if line["msg"] == msg]

    @contextmanager
    def connect(self) -> Iterator[HTTPSConnection]:
        """Open a connection that stays open between requests."""
        connection = HTTPSConnection("localhost", self.port, context=self.certificates.context(), timeout=PATIENCE)
        with closing(connection):
            connection.connect()
            yield connection

    def post(
        self,
        body: Any,
        path: str = "/validate?timeout=10s",
        *,
        over: HTTPSConnection | None = None,
        method: str = "POST",
        headers: dict[str, str] | None = None,
    ) -> Answer:
        """Send a body as JSON (bytes go as they are) and read the answer."""
        raw = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        with nullcontext(over) if over else self.connect() as connection:
            connection.request(method, path, raw, {"Content-Type": "application/json"} | (headers or {}))
            response = connection.getresponse()
            return Answer(response.status, json.loads(response.read()), dict(response.headers))

    def review(self, request: dict[str, Any], path: str = "/validate?timeout=10s", **how: Any) -> dict[str, Any]:
        """Send a review and return the response inside the answer, whose uid must be the request's."""
        answer = self.post(
            {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}, path, **how
        )
        assert answer.status == 200, answer
        response: dict[str, Any] = answer.json["response"]
        assert response["uid"] == request["uid"]
        return response

    def probe(self, path: str) -> tuple[int, str]:
        with closing(HTTPConnection("localhost", self.probe_port, timeout=PATIENCE)) as connection:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read().decode()

    def readiness(self) -> dict[str, Any]:
        detail: dict[str, Any] = json.loads(self.probe("/readyz")[1])
        return detail

    def metric(self, line_start: str) -> float:
        """Return a sample by the start of its line in `/metrics`; 0 where it is not there yet."""
        lines = self.probe("/metrics")[1].splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(line_start))

    def peak_memory(self) -> int:
        """Return the most memory it ever had resident, in KiB."""
        return int(Path(f"/proc/{self.process.pid}/status").read_text().split("VmHWM:")[1].split()[0])

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to stop, and return its exit code."""
        self.process.send_signal(how)
        return self.process.wait(PATIENCE)


Serve = Callable[..., Server]


class Servers:
    """Starts servers that read their files from one folder: `tls/`, and `policies/` with one policy in it."""

    def __init__(self, folder: Path, authority: trustme.CA) -> None:
        self.folder = folder
        self.policies = folder / "policies"
        self.policies.mkdir()
        (self.policies / "label.yaml").write_text(policy())
        (folder / "tls").mkdir()
        self.certificates = Certificates(folder / "tls", authority)
        self.certificates.issue()
        self.running: list[subprocess.Popen[bytes]] = []

    def launch(self, *flags: str, wait: bool = True, ports: tuple[int, int] = (0, 0)) -> Server:
        """Start a server; `wait` until it serves, unless it is not going to."""
        log = self.folder / f"log-{len(self.running)}"
        command = [sys.executable, "-m", "webhook", "serve", "--host", "127.0.0.1"]
        command += ["--port", str(ports[0]), "--probe-port", str(ports[1])]
        command += ["--tls-cert", str(self.certificates.cert), "--tls-key", str(self.certificates.key)]
        command += ["--policies", str(self.policies), "--drain-seconds", "0", *flags]
        environment = os.environ | {"XDG_CACHE_HOME": str(self.folder / "cache")}
        with log.open("wb") as stderr:
            self.running.append(subprocess.Popen(command, stderr=stderr, env=environment))
        server = Server(self.running[-1], log, self, ports)
        if wait and ports != (0, 0):
            until(server.answers)
        elif wait:
            server.find_ports()
        return server

    def end(self) -> None:
        for process in self.running:
            process.terminate()
        for process in self.running:
            process.wait(PATIENCE)


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def servers(tmp_path: Path, authority: trustme.CA) -> Iterator[Servers]:
    """Servers that a test may treat as it likes."""
    made = Servers(tmp_path, authority)
    yield made
    made.end()


@pytest.fixture
def policies(servers: Servers) -> Path:
    """The folder of a test's own servers' policies."""
    return servers.policies


@pytest.fixture
def certificates(servers: Servers) -> Certificates:
    return servers.certificates


@pytest.fixture
def serve(servers: Servers) -> Serve:
    """Start a server of the test's own, with some more flags."""
    return servers.launch


@pytest.fixture(scope="session")
def launch(tmp_path_factory: pytest.TempPathFactory, authority: trustme.CA) -> Callable[..., Any]:
    """Start a server for several tests, with more policies by file name."""

    @contextmanager
    def launched(*flags: str, **policies: str) -> Iterator[Server]:
        made = Servers(tmp_path_factory.mktemp("server"), authority)
        for name, text in policies.items():
            (made.policies / f"{name}.yaml").write_text(text)
        try:
            yield made.launch(*flags)
        finally:
            made.end()

    return launched


@pytest.fixture(scope="session")
def server(launch: Callable[..., Any]) -> Iterator[Server]:
    """The server that all tests share which leave it as it is."""
    with launch(colour=mutation(), slow=slow_policy()) as started:
        yield started


@pytest.fixture(name="until")
def until_fixture() -> Callable[[Callable[[], Any]], Any]:
    return until


def document(name: str, **spec: Any) -> str:
    """Write an AdmissionPolicy about ConfigMaps."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE", "UPDATE"]}
    spec = {"matchConstraints": {"resourceRules": [rule]}} | spec
    metadata = {"name": name}
    return json.dumps(
        {"apiVersion": "cozyguard.io/v1alpha1", "kind": "AdmissionPolicy", "metadata": metadata, "spec": spec}
    )


def policy(
    expression: str = "has(object.metadata.labels) && 'app' in object.metadata.labels", **validation: Any
) -> str:
    """Write a policy with one validation."""
    rule = {"expression": expression, "message": "label app is missing"} | validation
    return document("app-label", validations=[rule])


def mutation() -> str:
    """Write a policy that gives objects a colour when they have labels."""
    expression = "[JSONPatch{op: 'add', path: '/metadata/labels/colour', value: 'blue'}]"
    return document(
        "colour",
        matchConditions=[{"name": "labelled", "expression": "has(object.metadata.labels)"}],
        mutations=[{"patchType": "JSONPatch", "jsonPatch": {"expression": expression}, "message": "painted blue"}],
    )


def slow_policy() -> str:
    """Write a policy that takes its time where the object asks for it."""
    loop = "object.data.?slow.orValue([]).all(a, object.data.slow.all(b, a != b + 1))"
    return document("slow", validations=[{"expression": loop}])


@pytest.fixture(name="policy")
def policy_fixture() -> Callable[..., str]:
    return policy


@pytest.fixture
def config_map() -> Callable[..., dict[str, Any]]:
    """Make the request about a ConfigMap."""

    def make(*, labels: dict[str, str] | None = None, uid: str = "0a6c7f10", **changes: Any) -> dict[str, Any]:
        metadata = {"name": "settings", "namespace": "ml"} | ({"labels": labels} if labels else {})
        return {
            "uid": uid,
            "operation": "CREATE",
            "kind": {"group": "", "version": "v1", "kind": "ConfigMap"},
            "resource": {"group": "", "version": "v1", "resource": "configmaps"},
            "namespace": "ml",
            "name": "settings",
            "userInfo": {"username": "dev-1"},
            "object": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"password": "hunter2"}},
            "oldObject": None,
        } | changes

    return make
