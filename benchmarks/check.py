"""`cozyguard check` as a whole process: cold start, 10,000 Pods on one and two cores, memory as the input grows.

`python -m benchmarks.check`. Wall seconds are medians; memory is the largest resident set of all processes together.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks import objects
from benchmarks.engine import POD_SECURITY
from benchmarks.machine import machine

_ONE: Final = Path(__file__).parent.parent / "examples" / "manifests"


def main() -> None:
    """Print all tables."""
    print(f"## `cozyguard check`\n\n{machine()}\n")
    _cold_start()
    with TemporaryDirectory() as name:
        files = {count: Path(name) / f"{count}.yaml" for count in (10_000, 100_000)}
        for count, file in files.items():
            with file.open("w", encoding="utf-8") as stream:
                for pod in objects.pods(count):
                    stream.write("---\n" + "\n".join(objects.yaml_lines(pod)) + "\n")
        _large(files)


def _cold_start() -> None:
    print("### cold start, one file\n\n| command | median s of 11 |\n| --- | ---: |")
    manifest = str(next(iter(sorted(_ONE.glob("*.yaml")))))
    commands: dict[str, list[str]] = {
        "python -c ''": [sys.executable, "-c", ""],
        "cozyguard check one.yaml (bundled policies)": _check(manifest),
        "cozyguard check one.yaml (16 Pod Security policies)": _check(manifest, "--policies", str(POD_SECURITY)),
        "cozyguard check one.yaml --schemas (bundled policies)": _check("--schemas", manifest),
        "cozyguard lint (bundled policies)": [sys.executable, "-m", "webhook", "lint"],
    }
    for name, command in commands.items():
        print(f"| `{name}` | {median(_run(command)[0] for _ in range(11)):.3f} |")
    print()


def _large(files: dict[int, Path]) -> None:
    print("### many Pods, 16 Pod Security policies, results as JSON\n")
    print("| Pods | file | cores | wall s | Pods/s | peak memory |\n| ---: | ---: | ---: | ---: | ---: | ---: |")
    for count, file in files.items():
        for cores in (1, 2):
            arguments = ["--policies", str(POD_SECURITY), "-o", "json", "--jobs", str(cores)]
            seconds, peak = _run(_check(str(file), *arguments), cores)
            size = file.stat().st_size / 1e6
            print(f"| {count:,} | {size:.0f} MB | {cores} | {seconds:.1f} | {count / seconds:,.0f} | {peak:.0f} MiB |")
    print()


def _check(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "webhook", "check", *arguments]


def _run(command: Sequence[str], cores: int = 1) -> tuple[float, float]:
    """Run a command on so many cores; return wall seconds, and the peak MiB of it and its children."""
    started = time.perf_counter()
    with subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: os.sched_setaffinity(0, range(cores)),
        start_new_session=True,
    ) as process:
        peak, ended = [0.0], threading.Event()
        watcher = threading.Thread(target=_watch, args=(process.pid, peak, ended))
        watcher.start()
        process.wait()
        seconds = time.perf_counter() - started
        ended.set()
        watcher.join()
    return seconds, peak[0]


def _watch(group: int, peak: list[float], ended: threading.Event) -> None:
    """Sum up, ten times a second, what the processes of a session hold alone and share (PSS)."""
    while not ended.wait(0.1):
        total = 0
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if os.getsid(int(folder.name)) == group:
                    rollup = (folder / "smaps_rollup").read_text(encoding="ascii")
                    total += int(rollup.split("\nPss:")[1].split()[0])
            except (OSError, IndexError):
                continue
        peak[0] = max(peak[0], total / 1024)


if __name__ == "__main__":
    main()
