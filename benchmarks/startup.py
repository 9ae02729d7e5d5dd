"""How soon the bundled policies can be used, by an installed wheel and by a checkout, with and without a policy cache.

`python -m benchmarks.startup`. Each figure is the median of several starts: wall seconds, and in brackets the CPU
seconds of all processes, which others on the machine change least.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

import trustme

from benchmarks.machine import machine

ROOT: Final = Path(__file__).resolve().parent.parent
_ROUNDS: Final = 7
_MANIFEST: Final = ROOT / "examples" / "manifests" / "allowed.yaml"

Command = list[str]
Seconds = tuple[float, float]
"""Wall seconds, and the CPU seconds of all processes."""
Start = Callable[[Command, Path], None]


def main() -> None:
    """Print the table."""
    from tests.wheel.installation import build, install  # here: the tests' own

    print(f"## start, seconds\n\n{machine()}\n")
    print("| | wheel, no cache | wheel, cache | checkout, no cache | checkout, cache |")
    print("| --- | ---: | ---: | ---: | ---: |")
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "wheel").mkdir()
        wheel = str(install(build(folder / "wheel"), folder / "environment"))
        trustme.CA().issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(folder / "tls.pem")
        starts: dict[str, tuple[Command, Start]] = {
            "`explain`, until it ends": (["explain"], _until_it_ends),
            "`check` of one file, until it ends": (["check", str(_MANIFEST)], _until_it_ends),
            "`serve`, until it answers": (_serve(folder / "tls.pem"), _until_it_serves),
        }
        for title, (command, start) in starts.items():
            cells: list[str] = []
            for python, place in ((wheel, folder), (sys.executable, ROOT)):
                cells += _cold_and_warm([python, "-m", "webhook", *command], place, start)
            print(f"| {title} | {' | '.join(cells)} |")
    print()


def _serve(pair: Path) -> Command:
    ports = ["--host", "127.0.0.1", "--port", "0", "--probe-port", "0", "--drain-seconds", "0"]
    return ["serve", *ports, "--tls-cert", str(pair), "--tls-key", str(pair)]


def _cold_and_warm(command: Command, place: Path, start: Start) -> tuple[str, str]:
    """Start in turns with an empty cache and with what that start has left in it."""
    cold: list[Seconds] = []
    warm: list[Seconds] = []
    for _ in range(_ROUNDS):
        with TemporaryDirectory() as cache:
            os.environ["XDG_CACHE_HOME"] = cache
            for runs in (cold, warm):
                runs.append(_measured(command, place, start))
    return _cell(cold), _cell(warm)


def _cell(runs: list[Seconds]) -> str:
    return f"{median(wall for wall, _ in runs):.2f} ({median(used for _, used in runs):.2f})"


def _measured(command: Command, place: Path, start: Start) -> Seconds:
    """Return wall and CPU seconds of a start. A server's own end is in the CPU seconds, which is little."""
    used, started = _cpu_of_children(), time.perf_counter()
    start(command, place)
    wall = time.perf_counter() - started
    return wall, _cpu_of_children() - used


def _cpu_of_children() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _until_it_ends(command: Command, place: Path) -> None:
    subprocess.run(command, cwd=place, check=True, stdout=subprocess.DEVNULL)


def _until_it_serves(command: Command, place: Path) -> None:
    with subprocess.Popen(command, cwd=place, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr
        while '"msg":"serving"' not in (line := server.stderr.readline()):
            assert line, "the server did not start"
        server.kill()


if __name__ == "__main__":
    main()
