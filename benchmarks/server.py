"""The server over TLS, beside a bare aiohttp echo with the same certificate, in the same run.

Both are pinned to one core and driven in turns by `wrk` from another, so that a machine which is shared or slow is so
for both: `python -m benchmarks.server --policies benchmarks/policies/pod-security`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.error import URLError
from urllib.request import urlopen

import trustme

CONNECTIONS: Final = (1, 8, 64)
"""One client that waits for each answer, an API server at work, and many."""

_UNITS: Final = {"us": 1e-3, "ms": 1.0, "s": 1e3}
_LATENCY: Final = re.compile(r"(50|99)%\s+([\d.]+)(us|ms|s)")
_RATE: Final = re.compile(r"Requests/sec:\s+([\d.]+)")


@dataclass(slots=True)
class Runs:
    """What was measured, round by round: requests per second, and milliseconds."""

    rate: list[float] = field(default_factory=list)
    p50: list[float] = field(default_factory=list)
    p99: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Server:
    """A server under test."""

    name: str
    port: int
    process: subprocess.Popen[bytes]

    def resident(self) -> float:
        """Return its resident memory in MiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return int(status.split("VmRSS:")[1].split()[0]) / 1024


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print a table."""
    arguments = _parser().parse_args(argv)
    if not shutil.which("wrk"):
        print("server: not measured, this needs `wrk` (Debian: apt-get install wrk)")
        return 0
    with TemporaryDirectory() as name:
        folder = Path(name)
        _make_certificate(folder)
        review = pod_review(arguments.size)
        _write_script(folder / "review.lua", review)
        with _echo(folder) as echo, _cozyguard(folder, arguments.policies) as ours:
            runs = {(server.name, n): Runs() for server in (echo, ours) for n in CONNECTIONS}
            for _ in range(arguments.rounds):
                for n in CONNECTIONS:
                    for server in (echo, ours):
                        _drive(server, n, arguments.seconds, folder / "review.lua", runs[server.name, n])
            _print(runs, echo, ours, len(review))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks.server", description=__doc__)
    default = Path(__file__).parent / "policies" / "pod-security"
    parser.add_argument("--policies", type=Path, default=default, help="policies to serve")
    parser.add_argument("--size", type=int, default=3000, help="bytes of the review, about")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=3, help="how long each of them is driven, each round")
    return parser


def pod_review(size: int) -> bytes:
    """Make the review of a Pod that keeps to the restricted standard, of about this many bytes."""
    container = {
        "image": "registry.example.org/app:1.2.3",
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "runAsNonRoot": True,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "100m", "memory": "128Mi"}},
        "env": [{"name": f"SETTING_{index}", "value": "x" * 20} for index in range(4)],
    }
    containers = [{"name": "c0"} | container]
    while len(body := json.dumps(_review(containers)).encode()) < size:
        containers.append({"name": f"c{len(containers)}"} | container)
    return body


def _review(containers: list[dict[str, Any]]) -> dict[str, Any]:
    kind, resource = {"group": "", "version": "v1", "kind": "Pod"}, {"group": "", "version": "v1", "resource": "pods"}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "app", "namespace": "tenant-demo", "labels": {"app": "app"}},
        "spec": {"containers": containers, "securityContext": {"runAsNonRoot": True}},
    }
    request = {
        "uid": "0a6c7f10-0000-4000-8000-000000000001",
        "kind": kind,
        "resource": resource,
        "requestKind": kind,
        "requestResource": resource,
        "name": "app",
        "namespace": "tenant-demo",
        "operation": "CREATE",
        "userInfo": {"username": "dev-1", "groups": ["system:authenticated"]},
        "object": pod,
        "oldObject": None,
        "dryRun": False,
        "options": {"apiVersion": "meta.k8s.io/v1", "kind": "CreateOptions"},
    }
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}


def _make_certificate(folder: Path) -> None:
    leaf = trustme.CA().issue_cert("127.0.0.1")
    leaf.private_key_pem.write_to_path(folder / "tls.key")
    leaf.cert_chain_pems[0].write_to_path(folder / "tls.crt")


def _write_script(path: Path, review: bytes) -> None:
    path.write_text(
        'wrk.method = "POST"\n'
        'wrk.headers["Content-Type"] = "application/json"\n'
        f"wrk.body = [==[{review.decode()}]==]\n",
        encoding="utf-8",
    )


@contextmanager
def _echo(folder: Path) -> Iterator[Server]:
    port = _free_port()
    command = [sys.executable, "-m", "benchmarks.echo", str(port), *_pair(folder)]
    with _running("echo", port, command) as server:
        _wait_for_port(server)
        yield server


@contextmanager
def _cozyguard(folder: Path, policies: Path) -> Iterator[Server]:
    port, probe_port = _free_port(), _free_port()
    cert, key = _pair(folder)
    command = [sys.executable, "-m", "webhook", "serve", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--probe-port", str(probe_port), "--tls-cert", cert, "--tls-key", key, "--policies", str(policies)]
    command += ["--drain-seconds", "0"]
    with _running("cozyguard", port, command) as server:
        _wait_until_ready(server, probe_port)
        yield server


def _pair(folder: Path) -> tuple[str, str]:
    return str(folder / "tls.crt"), str(folder / "tls.key")


@contextmanager
def _running(name: str, port: int, command: list[str]) -> Iterator[Server]:
    """Run a server on the first core. Its log goes to a pipe that is read: a file would cost it more, nothing less."""
    root = Path(__file__).resolve().parent.parent
    with (
        subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as log,
        subprocess.Popen(command, stderr=log.stdin, cwd=root) as process,
    ):
        os.sched_setaffinity(process.pid, {_cores()[0]})
        try:
            yield Server(name, port, process)
        finally:
            process.terminate()


def _cores() -> list[int]:
    return sorted(os.sched_getaffinity(0))


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port: int = sock.getsockname()[1]
        return port


def _wait_for_port(server: Server) -> None:
    while server.process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", server.port)).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise SystemExit(f"server: {server.name} did not start")


def _wait_until_ready(server: Server, probe_port: int) -> None:
    while server.process.poll() is None:
        try:
            urlopen(f"http://127.0.0.1:{probe_port}/readyz").close()
        except URLError:
            time.sleep(0.05)
        else:
            return
    raise SystemExit(f"server: {server.name} did not start")


def _drive(server: Server, connections: int, seconds: int, script: Path, into: Runs) -> None:
    """Let `wrk` ask as fast as it is answered, from the last core."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}", "--latency", "-s", str(script)]
    wrk = ["taskset", "-c", str(_cores()[-1]), *command, f"https://127.0.0.1:{server.port}/validate?timeout=10s"]
    told = subprocess.run(wrk, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in told:
        raise SystemExit(f"server: {server.name} refused reviews:\n{told}")
    latency = {percentile: float(number) * _UNITS[unit] for percentile, number, unit in _LATENCY.findall(told)}
    rate = _RATE.search(told)
    assert rate, told
    into.rate.append(float(rate[1]))
    into.p50.append(latency["50"])
    into.p99.append(latency["99"])


def _print(runs: dict[tuple[str, int], Runs], echo: Server, ours: Server, size: int) -> None:
    print(f"server over TLS, one core, reviews of {size} bytes; {_machine()}\n")
    print("| connections | echo /s | cozyguard /s | share | p50 ms (echo) | added | p99 ms (echo) | added |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for n in CONNECTIONS:
        bare, full = runs[echo.name, n], runs[ours.name, n]
        rates = median(bare.rate), median(full.rate)
        latencies = [(median(a), median(b)) for a, b in ((bare.p50, full.p50), (bare.p99, full.p99))]
        cells = [f"{n}", f"{rates[0]:,.0f}", f"{rates[1]:,.0f}", f"{rates[1] / rates[0]:.2f}"]
        for before, after in latencies:
            cells += [f"{after:.2f} ({before:.2f})", f"{after - before:+.2f}"]
        print("| " + " | ".join(cells) + " |")
    print(f"\nresident: {ours.name} {ours.resident():.0f} MiB, {echo.name} {echo.resident():.0f} MiB")


def _machine() -> str:
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    model = re.search(r"model name\s*:\s*(.*)", text)
    cpu = model[1] if model else platform.processor()
    return f"{cpu}, {os.cpu_count()} cores, Python {platform.python_version()}"


if __name__ == "__main__":
    raise SystemExit(main())
