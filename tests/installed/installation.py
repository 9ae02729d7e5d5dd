"""What `helm install` makes, and its pods as processes of this machine: with their arguments, as their account."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from tests.chart.helm import CHART, NAMESPACE, RELEASE, Helm, Object
from tests.controlplane.plane import ControlPlane
from tests.controlplane.started import Started
from tests.e2e.kubectl import Kubectl, Shown, until
from tests.faults.replica import Replica
from tests.faults.site import balancer

SHELLS = ("validatingwebhookconfigurations", "mutatingwebhookconfigurations")

PACKAGE: Object = {
    "apiVersion": "cozystack.io/v1alpha1",
    "kind": "Package",
    "metadata": {"name": "cozystack.gpu-operator"},
    "spec": {"variant": "default"},
}


def package(variant: str) -> Object:
    return PACKAGE | {"spec": {"variant": variant}}


class Installation(Started):
    """Starts when it is entered, and is in force then; stops when it is left."""

    def __init__(self, plane: ControlPlane, helm: Helm, folder: Path) -> None:
        super().__init__()
        self.plane, self.helm, self.folder = plane, helm, folder
        self.kubectl = Kubectl(plane.binaries.kubectl, plane.kubeconfig, folder)
        self.replicas: list[Replica] = []

    def helmed(self, verb: str, *flags: str, values: Object | None = None) -> None:
        """Run a helm command about the release."""
        chart = () if verb == "uninstall" else (str(CHART),)
        self.helm(verb, RELEASE, *chart, f"--namespace={NAMESPACE}", *flags, values=values)

    def read(self, *what: str) -> Object:
        """Read an object as the administrator."""
        found: Object = json.loads(self.plane.kubectl("get", *what, "--output=json"))
        return found

    def dry_run(self, obj: Object, *flags: str) -> Shown:
        """Ask for a decision, and store nothing."""
        return self.kubectl("create", "--dry-run=server", "--filename=-", *flags, stdin=obj)

    def applied(self, obj: Object) -> Shown:
        """Apply an object, as a person does."""
        return self.kubectl("apply", "--filename=-", stdin=obj)

    def condition(self, kind: str, name: str, condition: str) -> Object:
        """Read a condition, empty as long as there is none."""
        found = self.read(kind, name).get("status", {}).get("conditions", [])
        return next((one for one in found if one["type"] == condition), {})

    @property
    def leader(self) -> str:
        """The holder of the Lease, "" if nobody is."""
        lease = self.read("lease", "cozyguard-controller", f"--namespace={NAMESPACE}")
        return str(lease["spec"].get("holderIdentity") or "")

    def bundles(self) -> set[str]:
        """The caBundles of all webhooks."""
        return {
            hook["clientConfig"]["caBundle"]
            for shell in SHELLS
            for hook in self.read(shell, RELEASE).get("webhooks", [])
        }

    def _start(self) -> None:
        for name in (NAMESPACE, "cozy-system", "tenant-demo"):
            self.plane.kubectl("create", "namespace", name)
        self.helmed("install", "--wait=hookOnly")
        arguments = self._arguments()
        compile_once()
        for index in range(2):
            self.replicas.append(Replica(self.folder / f"replica-{index}.log", arguments))
        url = f"https://127.0.0.1:{self._stack.enter_context(balancer(self.replicas))}"
        for replica in self.replicas:
            replica.told({"webhook-url": url})
            self._stack.callback(replica.stop)
            replica.launch()
        for replica in self.replicas:
            replica.wait()
        until(lambda: "did you mean" in self.dry_run(package("contaner")).denial)

    def _arguments(self) -> dict[str, object]:
        """Give what the Deployment runs its pods with, but for where files are and how the cluster is reached."""
        spec = self.read("deployment", RELEASE, f"--namespace={NAMESPACE}")["spec"]["template"]["spec"]
        command, *flags = spec["containers"][0]["args"]
        assert command == "serve"
        given = dict(flag.removeprefix("--").partition("=")[::2] for flag in flags)
        del given["in-cluster"]
        config = self.folder / "cozyguard.yaml"
        config.write_text(self.read("configmap", RELEASE, f"--namespace={NAMESPACE}")["data"]["cozyguard.yaml"])
        return given | {
            "kubeconfig": self._account(spec["serviceAccountName"]),
            "namespace": NAMESPACE,
            "config": config,
            "drain-seconds": "0.5",
        }

    def _account(self, name: str) -> Path:
        """Write a kubeconfig with a token of a service account."""
        token = self.plane.kubectl("create", "token", name, f"--namespace={NAMESPACE}").strip()
        config: dict[str, Any] = yaml.safe_load(self.plane.kubeconfig.read_text())
        config["users"][0]["user"] = {"token": token}
        file = self.folder / "account.kubeconfig"
        file.write_text(yaml.safe_dump(config))
        return file


def compile_once() -> None:
    """Fill the cache of compiled policies, as the image has it."""
    subprocess.run([sys.executable, "-m", "webhook", "explain"], stdout=subprocess.DEVNULL, check=True)
