"""A real `cozyguard serve` with the bundled policies, and what the API server is told about it."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import trustme
import yaml

from tests.e2e.kubectl import PATIENCE, SETUP, Object, until
from webhook.sources import policies

ROOT = Path(__file__).parents[2]
OWN_POLICIES = Path(__file__).parent / "policies"
"""Policies of these tests: their words change when these tests do, and not with the bundled ones."""

ADDRESS = os.environ.get("COZYGUARD_E2E_ADDRESS", "127.0.0.1")
"""Where the API server finds this machine."""

NAMESPACE = "e2e"
"""Where those policies hold. A webhook of these tests is asked about it, and those of the page are not."""

_RULES = [
    {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["*"]},
    {"apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments", "deployments/*"], "operations": ["*"]},
]
_NAME = "kubernetes.io/metadata.name"


@dataclass(frozen=True)
class World:
    """What the server is told of the cluster: its release, and all objects of the kinds that policies look up."""

    release: str
    objects: tuple[Object, ...] = ()


def example_world() -> World:
    """Know what the examples are written for."""
    documents = yaml.safe_load_all((ROOT / "examples" / "cluster-state.yaml").read_text())
    return World("1.6", tuple(documents))


def cluster_state(world: World) -> str:
    """Write what `--cluster-state` reads."""
    return "\n---\n".join(map(json.dumps, [*_nothing_else(), *world.objects]))


class Guard:
    """The server, on one port for as long as it is registered, however often it is stopped and started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.policies = folder / "policies"
        self.port, self.probe_port = _free_ports()
        self._authority = trustme.CA()
        self._world: World | None = None
        self._process: subprocess.Popen[bytes] | None = None
        shutil.copytree(OWN_POLICIES, self.policies)
        self.issue()

    def issue(self) -> None:
        """Write a new certificate of the same authority."""
        leaf = self._authority.issue_cert(ADDRESS)
        leaf.private_key_pem.write_to_path(self.folder / "tls.key")
        leaf.cert_chain_pems[0].write_to_path(self.folder / "tls.crt")

    def certificate(self) -> str:
        """Read the certificate that it shows to those who connect."""
        return ssl.get_server_certificate((ADDRESS, self.port))

    def serve(self, world: World) -> None:
        """Serve, with this knowledge of the cluster; a server that has it already goes on."""
        if self._process and world == self._world:
            return
        self.stop()
        self._world = world
        (self.folder / "state.yaml").write_text(cluster_state(world))
        self.start()

    def start(self) -> None:
        """Start a server that was stopped, as it was."""
        assert self._world
        with (self.folder / "log").open("ab") as log:
            command = [sys.executable, "-m", "webhook", *self._flags(self._world.release)]
            self._process = subprocess.Popen(command, stderr=log)
        until(self._ready)

    def stop(self) -> None:
        if self._process:
            self._process.terminate()
            assert self._process.wait(PATIENCE) == 0
        self._process = None

    def registration(self) -> list[Object]:
        """Give the webhook configurations that docs/serve.md shows, by URL, with one more for these tests' policies."""
        page = (ROOT / "docs" / "serve.md").read_text()
        block = re.search(r"^```yaml\n(# registration\.yaml\n.*?)^```$", page, re.MULTILINE | re.DOTALL)
        assert block
        documents: list[Object] = list(yaml.safe_load_all(block[1]))
        for document in documents:
            hooks = [self._by_url(hook) for hook in document["webhooks"]]
            own = {
                "name": "e2e.cozyguard.io",
                "namespaceSelector": {"matchLabels": {_NAME: NAMESPACE}},
                "rules": _RULES,
            }
            document["webhooks"] = [*map(_elsewhere, hooks), hooks[0] | own]
        return documents

    def _by_url(self, hook: Object) -> Object:
        path = hook["clientConfig"]["service"]["path"]
        authority = base64.b64encode(self._authority.cert_pem.bytes()).decode()
        not_setting_up = f"!('{SETUP}' in request.?userInfo.?groups.orValue([]))"
        return hook | {
            "clientConfig": {"url": f"https://{ADDRESS}:{self.port}{path}", "caBundle": authority},
            "matchConditions": [{"name": "not-setting-up", "expression": not_setting_up}],
        }

    def _flags(self, release: str) -> list[str]:
        flags: dict[str, Any] = {
            "host": ADDRESS,
            "port": self.port,
            "probe-port": self.probe_port,
            "tls-cert": self.folder / "tls.crt",
            "tls-key": self.folder / "tls.key",
            "cluster-state": self.folder / "state.yaml",
            "add-policies": self.policies,
            "release": release,
            "drain-seconds": 0,
        }
        return ["serve", *(f"--{name}={value}" for name, value in flags.items())]

    def _ready(self) -> bool:
        assert self._process
        assert self._process.poll() is None, (self.folder / "log").read_text()
        try:
            with urllib.request.urlopen(f"http://{ADDRESS}:{self.probe_port}/readyz", timeout=5):
                return True
        except OSError:
            return False


def _elsewhere(hook: Object) -> Object:
    """Leave the namespace of these tests to their own webhook: of two that deny, either may be the one that is shown."""
    elsewhere = {"key": _NAME, "operator": "NotIn", "values": [NAMESPACE]}
    return hook | {
        "namespaceSelector": {"matchExpressions": [*hook["namespaceSelector"]["matchExpressions"], elsewhere]}
    }


def _nothing_else() -> list[Object]:
    """Say of every kind that policies look up that what else is listed is all there is."""
    kinds = {
        (lookup.api_version, lookup.kind)
        for policy in policies.load([policies.bundled()]).policies
        for lookup in policy.lookups
    }
    return [{"apiVersion": version, "kind": f"{kind}List", "items": []} for version, kind in sorted(kinds)]


def _free_ports() -> tuple[int, int]:
    with socket.create_server((ADDRESS, 0)) as one, socket.create_server((ADDRESS, 0)) as other:
        return one.getsockname()[1], other.getsockname()[1]
