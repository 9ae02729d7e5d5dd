"""The server over TLS, beside a bare aiohttp echo with the same certificate, in the same run.

Both are pinned to one core and driven in turns by `wrk` from another, so that a machine which is shared or slow is so
for both: `python -m benchmarks.server --policies benchmarks/policies/pod-security`.
"""

from __future__ import annotations

import argparse
import json
import os
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
from typing import Final
from urllib.error import URLError
from urllib.request import urlopen

import trustme

from benchmarks import objects
from benchmarks.machine import cpu_seconds, machine
from webhook.sources.bundled import bundled

CONNECTIONS: Final = (1, 8, 64)
"""One client that waits for each answer, an API server at work, and many."""

PACKAGES: Final = bundled() / "packages"
"""Bundled policies of which none looks at a Pod. Of all, six do, and end at match conditions; none at a Service."""

MIXES: Final = (objects.BROKEN_SHARE, 0.0)
"""How many of the Pods break a rule: as the peers were measured, and as in a cluster that is in order."""

_UNITS: Final = {"us": 1e-3, "ms": 1.0, "s": 1e3}
_LATENCY: Final = re.compile(r"(50|99)%\s+([\d.]+)(us|ms|s)")
_REQUESTS: Final = re.compile(r"(\d+) requests in")
_RATE: Final = re.compile(r"Requests/sec:\s+([\d.]+)")


@dataclass(slots=True)
class Runs:
    """What was measured, round by round: requests per second, milliseconds, microseconds of CPU time per request."""

    rate: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
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
        print(f"## server over TLS, one core\n\n{machine()}\n")
        with _echo(folder) as echo, _cozyguard(folder, arguments.policies) as ours:
            for broken in MIXES:
                title = f"{broken:.0%} denied; the echo in brackets"
                _compare(echo, ours, title, _reviews(folder, arguments.size, broken), arguments)
            print(f"resident: {ours.resident():.0f} MiB (the echo: {echo.resident():.0f} MiB)\n")
        with _cozyguard(folder, PACKAGES) as few, _cozyguard(folder, bundled()) as pack:
            for kind, resource in (("Pod", "pods"), ("Service", "services")):
                title = f"all bundled policies; those about Packages alone in brackets; reviews of a {kind}"
                _compare(few, pack, title, _reviews(folder, arguments.size, 0.0, kind, resource), arguments)
    return 0


def _compare(bare: Server, full: Server, title: str, script: Path, arguments: argparse.Namespace) -> None:
    """Drive two servers in turns and print what the second costs beside the first."""
    runs = {(server.name, n): Runs() for server in (bare, full) for n in CONNECTIONS}
    for _ in range(arguments.rounds):
        for n in CONNECTIONS:
            for server in (bare, full):
                _drive(server, n, arguments.seconds, script, runs[server.name, n])
    _print(runs, bare, full, title)


def _reviews(folder: Path, size: int, broken: float, kind: str = "Pod", resource: str = "pods") -> Path:
    """Write the script that has `wrk` send reviews of Pods, or of what looks like Pods and is called otherwise."""
    script = folder / "reviews.lua"
    pods = objects.pods(100, size=size, broken=broken)
    _write_script(script, [json.dumps(objects.review(pod, kind, resource)).encode() for pod in pods])
    return script


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks.server", description=__doc__)
    default = Path(__file__).parent / "policies" / "pod-security"
    parser.add_argument("--policies", type=Path, default=default, help="policies to serve")
    parser.add_argument("--size", type=int, default=2500, help="bytes of a Pod, as compact JSON")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=3, help="how long each of them is driven, each round")
    return parser


def _make_certificate(folder: Path) -> None:
    leaf = trustme.CA().issue_cert("127.0.0.1")
    leaf.private_key_pem.write_to_path(folder / "tls.key")
    leaf.cert_chain_pems[0].write_to_path(folder / "tls.crt")


def _write_script(path: Path, reviews: list[bytes]) -> None:
    """Write what `wrk` runs: it sends the reviews in turn."""
    bodies = ",\n".join(f"[==[{review.decode()}]==]" for review in reviews)
    path.write_text(
        f"local bodies, requests, sent = {{{bodies}}}, {{}}, 0\n"
        "init = function()\n"
        '  local headers = {["Content-Type"] = "application/json"}\n'
        '  for i, body in ipairs(bodies) do requests[i] = wrk.format("POST", nil, headers, body) end\n'
        "end\n"
        "request = function() sent = sent % #requests + 1; return requests[sent] end\n",
        encoding="utf-8",
    )


@contextmanager
def _echo(folder: Path) -> Iterator[Server]:
    port = _free_port()
    command = [sys.executable, "-m", "benchmarks.echo", str(port), *_pair(folder)]
    with _running("echo", port, command) as server:
        _wait_for_port(server)
        _pin(server)
        yield server


@contextmanager
def _cozyguard(folder: Path, policies: Path) -> Iterator[Server]:
    port, probe_port = _free_port(), _free_port()
    cert, key = _pair(folder)
    command = [sys.executable, "-m", "webhook", "serve", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--probe-port", str(probe_port), "--tls-cert", cert, "--tls-key", key, "--policies", str(policies)]
    command += ["--drain-seconds", "0"]
    with _running(f"cozyguard with {policies.name}", port, command) as server:
        _wait_until_ready(server, probe_port)
        _pin(server)
        yield server


def _pair(folder: Path) -> tuple[str, str]:
    return str(folder / "tls.crt"), str(folder / "tls.key")


@contextmanager
def _running(name: str, port: int, command: list[str]) -> Iterator[Server]:
    """Run a server. Its log goes to a pipe that is read: a file would cost it more, nothing less."""
    root = Path(__file__).resolve().parent.parent
    with (
        subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as log,
        subprocess.Popen(command, stderr=log.stdin, cwd=root) as process,
    ):
        try:
            yield Server(name, port, process)
        finally:
            process.terminate()


def _pin(server: Server) -> None:
    """Leave a server the first core."""
    os.sched_setaffinity(server.process.pid, {_cores()[0]})


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
            time.sleep(0.01)
        else:
            return
    raise SystemExit(f"server: {server.name} did not start")


def _drive(server: Server, connections: int, seconds: int, script: Path, into: Runs) -> None:
    """Let `wrk` ask as fast as it is answered, from the last core."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}", "--latency", "-s", str(script)]
    wrk = ["taskset", "-c", str(_cores()[-1]), *command, f"https://127.0.0.1:{server.port}/validate?timeout=10s"]
    before = cpu_seconds(server.process.pid)
    told = subprocess.run(wrk, capture_output=True, text=True, check=True).stdout
    used = cpu_seconds(server.process.pid) - before
    if "Non-2xx" in told:
        raise SystemExit(f"server: {server.name} refused reviews:\n{told}")
    latency = {percentile: float(number) * _UNITS[unit] for percentile, number, unit in _LATENCY.findall(told)}
    rate = _RATE.search(told)
    requests = _REQUESTS.search(told)
    assert rate, told
    assert requests, told
    into.cpu.append(used / int(requests[1]) * 1e6)
    into.rate.append(float(rate[1]))
    into.p50.append(latency["50"])
    into.p99.append(latency["99"])


def _print(runs: dict[tuple[str, int], Runs], echo: Server, ours: Server, title: str) -> None:
    print(f"### {title}\n")
    print("| connections | reviews/s | share | p50 ms | added | p99 ms | added | CPU us per review |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for n in CONNECTIONS:
        bare, full = runs[echo.name, n], runs[ours.name, n]
        rates = median(bare.rate), median(full.rate)
        latencies = [(median(a), median(b)) for a, b in ((bare.p50, full.p50), (bare.p99, full.p99))]
        cells = [f"{n}", f"{rates[1]:,.0f} ({rates[0]:,.0f})", f"{rates[1] / rates[0]:.2f}"]
        for before, after in latencies:
            cells += [f"{after:.2f} ({before:.2f})", f"{after - before:+.2f}"]
        cells.append(f"{median(full.cpu):.0f} ({median(bare.cpu):.0f})")
        print("| " + " | ".join(cells) + " |")
    print()


if __name__ == "__main__":
    raise SystemExit(main())
