"""What an audit of a live cluster takes: objects a second, memory, requests. `python -m benchmarks.audit`.

The API server is a real one, on the same machine; the audit is the command, in a process of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from http import HTTPStatus
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.machine import machine
from benchmarks.objects import pods
from webhook.cluster.access import Access
from webhook.cluster.client import Client
from webhook.cluster.faults import ApiError
from webhook.cluster.resources import PODS
from webhook.model.request import Object

if TYPE_CHECKING:
    from tests.controlplane.plane import ControlPlane

_POLICIES: Final = Path(__file__).parent / "policies"
_BROKEN: Final = 0.02
_AT_ONCE: Final = 16
_LISTS: Final = re.compile(r'^apiserver_request_total\{.*resource="pods".*verb="LIST".*\} (\S+)$', re.MULTILINE)


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(prog="benchmarks.audit")
    parser.add_argument("--objects", type=int, nargs="+", default=[10_000], metavar="N", help="such as 10000 100000")
    arguments = parser.parse_args(argv)
    from tests.controlplane.binaries import find  # here: the tests' own
    from tests.controlplane.plane import ControlPlane

    most = max(arguments.objects)
    given, made = pods(most, broken=_BROKEN), 0
    with ControlPlane(find()) as plane:
        print(f"## an audit of Pods, {_BROKEN:.0%} of which break a rule\n\n{machine()}\n")
        print("| Pods | denied | seconds | CPU seconds | objects/s | memory at most | pages |")
        print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
        for objects in sorted(arguments.objects):
            asyncio.run(_fill(plane.kubeconfig, islice(given, objects - made)))
            made = objects
            _measure(plane)


def _measure(plane: ControlPlane) -> None:
    """Run the command, and print a row."""
    flags = ["--kubeconfig", str(plane.kubeconfig), "--policies", str(_POLICIES), "--kind", "Pod", "--qps", "1000"]
    command = [sys.executable, "-m", "webhook", "audit", *flags, "-o", "json"]
    pages = _pages(plane)
    with tempfile.TemporaryFile() as out:
        began = time.perf_counter()
        process = subprocess.Popen(command, stdout=out)
        _, _, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        out.seek(0)
        summary = json.load(out)["summary"]
    found = f"{summary['resources']:,} | {summary['resourcesDenied']:,}"
    speed = f"{seconds:.1f} | {used.ru_utime + used.ru_stime:.1f} | {summary['resources'] / seconds:,.0f}"
    print(f"| {found} | {speed} | {used.ru_maxrss / 1024:.0f} MiB | {_pages(plane) - pages:,} |", flush=True)


def _pages(plane: ControlPlane) -> int:
    """Count the lists of Pods that the API server has answered."""
    return sum(int(float(number)) for number in _LISTS.findall(plane.kubectl("get", "--raw", "/metrics")))


async def _fill(kubeconfig: Path, objects: Iterator[Object]) -> None:
    """Make the Pods, but for the few that no API server takes."""
    async with await Client.connect(Access(kubeconfig)) as client:

        async def make() -> None:
            for obj in objects:
                obj["metadata"]["namespace"] = "default"
                try:
                    await client.create(PODS.path("default"), obj)
                except ApiError as error:
                    if error.status != HTTPStatus.UNPROCESSABLE_ENTITY:
                        raise

        await asyncio.gather(*(make() for _ in range(_AT_ONCE)))


if __name__ == "__main__":
    main()
