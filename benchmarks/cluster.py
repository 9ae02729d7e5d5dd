"""What it costs to keep a kind of a cluster: time to list it, memory of each object. `python -m benchmarks.cluster`.

The API server is a real one, on the same machine; each figure comes from a process of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.machine import machine
from webhook.cel.needs import Needs
from webhook.cluster.access import Access
from webhook.cluster.cache import WatchCache
from webhook.cluster.client import Client
from webhook.cluster.resources import Resource
from webhook.cluster.wants import Scope

VIRTUAL_MACHINES: Final = Resource("kubevirt.io", "v1", "virtualmachines", "VirtualMachine", namespaced=True)
_SCOPE: Final = Scope(VIRTUAL_MACHINES.api_version, VIRTUAL_MACHINES.kind)
_GPUS: Final = ("spec", "template", "spec", "domain", "devices", "gpus", "*", "deviceName")

KEPT: Final = {
    "names and labels": Needs(),
    "and the GPUs": Needs(frozenset({_GPUS})),
    "everything": Needs(frozenset({()})),
}
_AT_ONCE: Final = 16


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(prog="benchmarks.cluster")
    parser.add_argument("--objects", type=int, default=10_000)
    parser.add_argument("--keep", nargs=2, metavar=("KUBECONFIG", "WHAT"), help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    if arguments.keep:
        kubeconfig, what = arguments.keep
        print(json.dumps(asyncio.run(_keep(Path(kubeconfig), KEPT[what]))))
        return
    from tests.controlplane.binaries import find  # here: the memory of these is not what is measured
    from tests.controlplane.plane import ControlPlane

    with ControlPlane(find()) as plane:
        size = asyncio.run(_fill(plane.kubeconfig, arguments.objects))
        print(
            f"## a watch cache of {arguments.objects:,} VirtualMachines, {size:,} bytes of JSON each\n\n{machine()}\n"
        )
        print("| kept | listed in | objects/s | bytes an object | client alone | with the objects | at most |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
        for what in KEPT:
            command = [sys.executable, "-m", "benchmarks.cluster", "--keep", str(plane.kubeconfig), what]
            figures = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            _print_row(what, arguments.objects, **figures)


def _print_row(what: str, objects: int, seconds: float, before: float, after: float, most: float) -> None:
    each = (after - before) * 2**20 / objects
    memory = " | ".join(f"{figure:.0f} MiB" for figure in (before, after, most))
    print(f"| {what} | {seconds:.1f} s | {objects / seconds:,.0f} | {each:,.0f} | {memory} |")


async def _keep(kubeconfig: Path, needs: Needs) -> dict[str, float]:
    async with await Client.connect(Access(kubeconfig)) as client:
        await client.get("/version")
        gc.collect()
        before, cache, began = _memory("VmRSS"), WatchCache(client), time.perf_counter()
        await cache.follow({_SCOPE: needs})
        seconds = time.perf_counter() - began
        gc.collect()
        figures = {"seconds": seconds, "before": before, "after": _memory("VmRSS"), "most": _memory("VmHWM")}
        await cache.close()
        return figures


async def _fill(kubeconfig: Path, objects: int) -> int:
    """Make the objects, and give the size of one as it is served."""
    async with await Client.connect(Access(kubeconfig)) as client:
        path = VIRTUAL_MACHINES.path("default")
        numbers = iter(range(objects))

        async def make(share: Iterator[int]) -> None:
            for number in share:
                await client.create(path, _virtual_machine(number))

        await asyncio.gather(*(make(numbers) for _ in range(_AT_ONCE)))
        return len(json.dumps(await client.get(VIRTUAL_MACHINES.path("default", "vm-0"))))


def _virtual_machine(number: int) -> dict[str, Any]:
    """Make a VM as KubeVirt's users write it, with some of what controllers add."""
    name = f"vm-{number}"
    devices = {
        "disks": [{"name": disk, "disk": {"bus": "virtio"}, "bootOrder": 1} for disk in ("root", "data", "cloud-init")],
        "interfaces": [{"name": "default", "bridge": {}, "macAddress": "02:00:00:00:00:01"}],
        "gpus": [{"name": "gpu0", "deviceName": "nvidia.com/AD102GL_L40S"}] if number % 10 == 0 else [],
    }
    spec = {
        "domain": {"cpu": {"cores": 4, "model": "host-model"}, "memory": {"guest": "8Gi"}, "devices": devices},
        "networks": [{"name": "default", "pod": {}}],
        "volumes": [
            {"name": "root", "dataVolume": {"name": f"{name}-root"}},
            {"name": "data", "persistentVolumeClaim": {"claimName": f"{name}-data"}},
            {"name": "cloud-init", "cloudInitNoCloud": {"userData": "#cloud-config\n" + "packages: [qemu]\n" * 40}},
        ],
    }
    labels = {"app.kubernetes.io/name": "vm", "app.kubernetes.io/instance": name}
    return {
        "apiVersion": VIRTUAL_MACHINES.api_version,
        "kind": VIRTUAL_MACHINES.kind,
        "metadata": {"name": name, "labels": labels},
        "spec": {"running": True, "template": {"metadata": {"labels": labels}, "spec": spec}},
    }


def _memory(line: str) -> float:
    """Read a line of the process's status, in MiB."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.split(f"{line}:")[1].split()[0]) / 1024


if __name__ == "__main__":
    main()
