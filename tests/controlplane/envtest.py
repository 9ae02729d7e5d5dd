"""Fetch the archive that the envtest project publishes: etcd and kube-apiserver, ready-made.

The index and the archives are those of setup-envtest (kubernetes-sigs/controller-tools). `COZYGUARD_ENVTEST_INDEX`
names another index, such as a mirror's; any URL that Python can open will do.
"""

from __future__ import annotations

import hashlib
import io
import os
import platform
import tarfile
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from .versions import ControlPlaneError

_INDEX: Final = "https://raw.githubusercontent.com/kubernetes-sigs/controller-tools/HEAD/envtest-releases.yaml"
_PATIENCE: Final = 5.0
"""Seconds until a network that swallows packets counts as one that refuses them."""

_MACHINES: Final = {"x86_64": "amd64", "aarch64": "arm64"}


def fetch(minor: str, folder: Path, programs: Sequence[str]) -> None:
    """Fetch the newest archive of a minor and unpack programs of it. Raises ControlPlaneError."""
    try:
        archive = _archive(minor)
        content = _read(archive["selfLink"])
    except OSError as error:
        raise ControlPlaneError(f"the envtest archive cannot be fetched: {error}") from None
    if hashlib.sha512(content).hexdigest() != archive["hash"]:
        raise ControlPlaneError(f"{archive['selfLink']} is not what the index says: its SHA-512 differs")
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(content)) as opened:
        for member in opened:
            if (name := Path(member.name).name) in programs and (file := opened.extractfile(member)):
                _install(folder / name, file.read())


def _archive(minor: str) -> dict[str, Any]:
    """Find the index's entry for the newest patch of a minor, on a machine like this one."""
    system = f"{platform.system().lower()}-{_MACHINES.get(platform.machine(), platform.machine())}"
    releases = yaml.safe_load(_read(os.environ.get("COZYGUARD_ENVTEST_INDEX", _INDEX)))["releases"]
    patches = [version for version in releases if version.startswith(f"v{minor}.") and "-" not in version]
    for version in sorted(patches, key=lambda version: int(version.rpartition(".")[2]), reverse=True):
        if archive := releases[version].get(f"envtest-{version}-{system}.tar.gz"):
            found: dict[str, Any] = archive
            return found
    raise ControlPlaneError(f"the envtest index has no archive of {minor} for {system}")


def _read(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=_PATIENCE) as answer:  # noqa: S310  whoever names an index means it
        content: bytes = answer.read()
        return content


def _install(target: Path, content: bytes) -> None:
    """Write a program whole or not at all."""
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    partial.write_bytes(content)
    partial.chmod(0o755)
    partial.rename(target)
