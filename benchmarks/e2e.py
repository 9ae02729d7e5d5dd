"""What a client of a real API server sees: `make bench-e2e`.

The latency of a dry-run create of a Pod, without policies, with our webhook, and with the same policies as native
ValidatingAdmissionPolicies. Each variant has a namespace of its own, so that all are in force all the time, and they
are measured in turns: a machine that is shared or slow is so for all.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import ssl
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from operator import neg
from pathlib import Path
from random import Random
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import Final, Self

import aiohttp
import uvloop

from benchmarks import objects
from benchmarks.machine import cpu_seconds, machine
from benchmarks.variants import NATIVE, NONE, OTHERS, OURS, VARIANTS, broken, in_force, pod_security
from tests.controlplane.binaries import find
from tests.controlplane.plane import ControlPlane
from webhook.model.request import Object

Usage = tuple[float, float]
"""CPU seconds of the API server, and of our servers together."""

CLIENTS: Final = (1, 4, 16)
_PATIENCE: Final = 60.0
"""Seconds until all is in force: a few, even on a busy machine."""

_CALLED: Final = re.compile(r'^apiserver_admission_webhook_request_total\{.*\bname="(\w+)', re.MULTILINE)
_DENIED: Final = re.compile(r'^apiserver_validating_admission_policy_check_total\{.*\bpolicy="(.+?)"', re.MULTILINE)
_UNSEEN: Final = {"pss-proc-mount", "pss-windows-host-process"}
"""The API server itself refuses the Pods that break these, before it asks any policy."""


@dataclass(slots=True)
class Runs:
    """What was measured: milliseconds of each request, one list a round, and seconds in all.

    `cpu` is the CPU time of the API server and of our servers, in seconds: a busy machine changes it least.
    """

    rounds: list[list[float]] = field(default_factory=list)
    seconds: float = 0.0
    cpu: list[float] = field(default_factory=lambda: [0.0, 0.0])

    @property
    def p50(self) -> list[float]:
        """The median of each round."""
        return [median(took) for took in self.rounds]

    @property
    def all(self) -> list[float]:
        return [one for took in self.rounds for one in took]

    @property
    def p99(self) -> float:
        """Of all requests: a short round has too few for a percentile of its own."""
        return quantiles(self.all, n=100)[98]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print a table."""
    arguments = _parser().parse_args(argv)
    pod = objects.pod(Random(1), arguments.size)
    with TemporaryDirectory() as name, ControlPlane(find(say=_say)) as plane, in_force(plane, Path(name)) as servers:

        def usage() -> Usage:
            return cpu_seconds(plane.pid), sum(cpu_seconds(server.pid) for server in servers)

        runs = uvloop.run(_measure(Client(plane, pod), arguments.rounds, arguments.seconds, usage))
    _print(runs, len(json.dumps(pod, separators=(",", ":"))))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks.e2e", description=__doc__)
    parser.add_argument("--size", type=int, default=2500, help="bytes of the Pod, as compact JSON")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=0.75, help="how long each is driven, each round")
    return parser


class Client:
    """Creates a Pod in dry runs, over and over."""

    def __init__(self, plane: ControlPlane, pod: Object) -> None:
        self._url = plane.url
        self._headers = {"Authorization": f"Bearer {plane.token}", "Content-Type": "application/json"}
        self._trust = ssl.create_default_context(cafile=str(plane.certificate))
        self._bodies = {name: _in_namespace(pod, name) for name in VARIANTS}

    async def __aenter__(self) -> Self:
        connector = aiohttp.TCPConnector(limit=0, ssl=self._trust)
        self._session = aiohttp.ClientSession(connector=connector, headers=self._headers)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def create(self, variant: str) -> float:
        """Create it once; returns milliseconds. Raises SystemExit when it is refused."""
        begun = time.perf_counter()
        status, text = await self.ask(variant, self._bodies[variant])
        if status != HTTPStatus.CREATED:
            raise SystemExit(f"e2e: {VARIANTS[variant]}: {status} {text}")
        return (time.perf_counter() - begun) * 1e3

    async def ask(self, namespace: str, body: bytes) -> tuple[int, str]:
        """Create a Pod; returns the status and the text of the answer."""
        url = f"{self._url}/api/v1/namespaces/{namespace}/pods?dryRun=All"
        async with self._session.post(url, data=body) as answer:
            return answer.status, await answer.text()

    async def metrics(self) -> str:
        """Read the API server's own numbers."""
        async with self._session.get(f"{self._url}/metrics") as answer:
            return await answer.text()


def _in_namespace(pod: Object, namespace: str) -> bytes:
    return json.dumps(pod | {"metadata": pod["metadata"] | {"namespace": namespace}}).encode()


async def _measure(
    client: Client, rounds: int, seconds: float, usage: Callable[[], Usage]
) -> dict[tuple[str, int], Runs]:
    """Drive each variant in each round; returns what was measured by variant and number of clients."""
    runs = {(variant, clients): Runs() for clients in CLIENTS for variant in VARIANTS}
    names = {policy["metadata"]["name"] for policy in pod_security("AdmissionPolicy")} - _UNSEEN
    async with client:
        await _wait_until_in_force(client, names)
        for _ in range(rounds):
            for (variant, clients), into in runs.items():
                begun, before = time.perf_counter(), usage()
                into.rounds.append(await _drive(client, variant, clients, seconds))
                into.seconds += time.perf_counter() - begun
                into.cpu = [sum(parts) for parts in zip(into.cpu, usage(), map(neg, before), strict=True)]
    return runs


async def _wait_until_in_force(client: Client, policies: set[str]) -> None:
    """Ask the API server whom it has asked, until it is everybody. Raises SystemExit when that takes too long."""
    missing = {"everything"}
    end = time.perf_counter() + _PATIENCE
    while missing:
        if time.perf_counter() > end:
            raise SystemExit(f"e2e: not in force: {', '.join(sorted(missing))}")
        for variant in VARIANTS:
            await client.create(variant)
        for pod in broken():  # native policies are counted only where they deny
            await client.ask(NATIVE, _in_namespace(pod, NATIVE))
        metrics = await client.metrics()
        missing = ({OURS, OTHERS} - set(_CALLED.findall(metrics))) | (policies - set(_DENIED.findall(metrics)))


async def _drive(client: Client, variant: str, clients: int, seconds: float) -> list[float]:
    """Let so many clients ask, each as fast as it is answered; returns the milliseconds of each request."""
    end = time.perf_counter() + seconds
    took: list[float] = []

    async def ask() -> None:
        while time.perf_counter() < end:
            took.append(await client.create(variant))

    async with asyncio.TaskGroup() as group:
        for _ in range(clients):
            group.create_task(ask())
    return took


def _print(runs: dict[tuple[str, int], Runs], size: int) -> None:
    print(f"## through the API server\n\n{machine()}\n")
    print(f"### a dry-run create of a Pod of {size:,} bytes\n")
    print("| clients | | requests/s | p50 ms | added | p99 ms | added | CPU ms: API server | ours |")
    print("| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for (variant, clients), it in runs.items():
        bare = runs[NONE, clients]
        added = ("", "") if it is bare else (f"{_added(it, bare):+.2f}", f"{it.p99 - bare.p99:+.2f}")
        rate = len(it.all) / it.seconds
        p50, p99 = f"{median(it.p50):.2f}", f"{it.p99:.2f}"
        cpu = (f"{seconds * 1e3 / len(it.all):.2f}" for seconds in it.cpu)
        cells = (f"{clients}", VARIANTS[variant], f"{rate:,.0f}", p50, added[0], p99, added[1], *cpu)
        print(f"| {' | '.join(cells)} |")
    print()
    for clients in CLIENTS:
        ours, native = (_added(runs[one, clients], runs[NONE, clients]) for one in (OURS, NATIVE))
        times = f", {native / ours:.0f} times that" if ours > 0 else ""
        print(f"{clients} at once, added at p50: {ours:.2f} ms by ours, {native:.2f} ms by the native ones{times}")


def _added(it: Runs, bare: Runs) -> float:
    """Compare the medians round by round: what slows one slows the other."""
    return median(one - other for one, other in zip(it.p50, bare.p50, strict=True))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
