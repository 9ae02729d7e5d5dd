"""helm as a person uses it, and what it renders as objects."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

Object = dict[str, Any]

CHART = Path(__file__).parents[2] / "charts" / "cozyguard"
NAMESPACE = "cozyguard"
RELEASE = "cozyguard"

EVERYTHING: Object = {
    "enforcement": {"mode": "warn", "modes": [{"policies": ["tenant-*"], "mode": "off"}]},
    "extraPolicies": {"no-latest.yaml": "kind: AdmissionPolicy\n"},
    "certificates": {"mode": "cert-manager"},
    "rbac": {"lookups": [{"apiGroups": ["apps"], "resources": ["deployments"]}]},
    "release": "1.6",
    "image": {"digest": f"sha256:{'a' * 64}", "pullSecrets": [{"name": "registry"}]},
    "podLabels": {"team": "platform"},
    "podAnnotations": {"note": "mine"},
    "nodeSelector": {"kubernetes.io/os": "linux"},
    "tolerations": [{"operator": "Exists"}],
    "audit": {"enabled": True, "report": "openreports", "shards": 10},
    "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
    "prometheusRule": {"enabled": True},
    "grafanaDashboard": {"enabled": True},
}
"""Values that switch on, or change, all that can be."""


class HelmError(Exception):
    """helm failed; the message is what it printed."""


class Rendered(list[Object]):
    """The objects of a chart."""

    def of(self, kind: str) -> Iterator[Object]:
        return (obj for obj in self if obj["kind"] == kind)

    def one(self, kind: str, name: str = RELEASE, namespace: str | None = None) -> Object:
        """Give the one object of a kind and name."""
        (found,) = (
            obj
            for obj in self.of(kind)
            if obj["metadata"]["name"] == name and namespace in (None, obj["metadata"].get("namespace"))
        )
        return found

    @property
    def names(self) -> set[tuple[str, str]]:
        return {(obj["kind"], obj["metadata"]["name"]) for obj in self}

    @property
    def pod(self) -> Object:
        spec: Object = self.one("Deployment")["spec"]["template"]["spec"]
        return spec

    @property
    def container(self) -> Object:
        (container,) = self.pod["containers"]
        found: Object = container
        return found

    @property
    def configuration(self) -> str:
        """The file that `--config` names."""
        text: str = self.one("ConfigMap")["data"]["cozyguard.yaml"]
        return text


@dataclass(frozen=True, slots=True)
class Helm:
    """helm with settings of its own, and the cluster of a kubeconfig, if any."""

    program: Path
    home: Path
    kubeconfig: Path = Path(os.devnull)

    def __call__(self, *arguments: str, values: Object | None = None) -> str:
        """Run helm, and give what it prints. Raises HelmError."""
        places = {f"HELM_{name}_HOME": str(self.home / name.lower()) for name in ("CACHE", "CONFIG", "DATA")}
        done = subprocess.run(
            [str(self.program), *arguments, *(("--values=-",) if values is not None else ())],
            input=json.dumps(values or {}),
            env=os.environ | places | {"KUBECONFIG": str(self.kubeconfig)},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise HelmError(done.stdout + done.stderr)
        return done.stdout

    def template(self, values: Object | None = None, *flags: str, release: str = RELEASE) -> Rendered:
        text = self("template", release, str(CHART), "--namespace", NAMESPACE, *flags, values=values or {})
        return Rendered(obj for obj in yaml.safe_load_all(text) if obj)
