"""An installation of this checkout: its wheel, built, in an environment of its own."""

from __future__ import annotations

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import cryptography

ROOT = Path(__file__).parents[2]


def build(folder: Path) -> Path:
    """Build the wheel in an empty folder, and give it."""
    command: list[str | Path] = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.iterdir()  # nothing else is left behind
    return wheel


def install(wheel: Path, folder: Path) -> Path:
    """Install a wheel, with what it depends on from where this runs, compiled as pip does; give the Python of it."""
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/*/site-packages")
    zipfile.ZipFile(wheel).extractall(packages)
    (packages / "dependencies.pth").write_text(str(Path(cryptography.__file__).parents[1]))
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "compileall", "-q", packages / "webhook"], check=True)
    return python
