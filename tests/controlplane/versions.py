"""Which versions there are: those that the go.mod files beside this one pin."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
DEFAULT: Final = "1.36"
VARIABLE: Final = "COZYGUARD_KUBERNETES"
"""The environment variable that chooses another minor."""


class ControlPlaneError(Exception):
    """No control plane, and why; the message says how to get one."""


@dataclass(frozen=True, slots=True)
class Module:
    """A program in Go: the folder of the go.mod that pins it, its package and its version."""

    folder: Path
    package: str
    version: str

    @property
    def minor(self) -> str:
        return self.version.rpartition(".")[0]


def minors() -> list[str]:
    """List the minors of Kubernetes to choose from, oldest first."""
    return sorted(folder.name.partition("-")[2] for folder in HERE.glob("kubernetes-*"))


def apiserver(minor: str | None = None) -> Module:
    """Find the API server of a minor: the one asked for, else the environment's, else the default."""
    minor = minor or os.environ.get(VARIABLE) or DEFAULT
    if minor not in minors():
        raise ControlPlaneError(f"{VARIABLE}: got `{minor}`, want one of {', '.join(minors())}")
    return _module(f"kubernetes-{minor}", "k8s.io/kubernetes", "/cmd/kube-apiserver")


def etcd() -> Module:
    return _module("etcd", "go.etcd.io/etcd/server/v3", "")


def helm() -> Module:
    return _module("helm", "helm.sh/helm/v4", "/cmd/helm")


def crane() -> Module:
    return _module("crane", "github.com/google/go-containerregistry", "/cmd/crane")


def _module(folder: str, module: str, package: str) -> Module:
    required = re.search(rf"^require {module} v(\S+)$", (HERE / folder / "go.mod").read_text(), re.MULTILINE)
    assert required, f"{folder}/go.mod does not require {module}"
    return Module(HERE / folder, module + package, required[1])
