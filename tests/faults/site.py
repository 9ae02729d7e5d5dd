"""All that runs besides the control plane: two replicas, the balancer before them, and the files that they read."""

from __future__ import annotations

import shutil
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import trustme

from tests.controlplane.plane import ControlPlane
from tests.controlplane.started import Started
from tests.e2e.guard import NAMESPACE, OWN_POLICIES, ROOT, cluster_state, example_world
from tests.e2e.kubectl import Kubectl, until
from tests.faults import traffic
from tests.faults.mount import Mount
from tests.faults.replica import Replica

_BUNDLED = ("packages/package-variant-known", "tenants/tenant-nvlink-disable")
"""What the requests of these tests are about. All of them take seconds to compile anew on a busy machine."""


class Site(Started):
    """Starts when it is entered, and is in force on every API server then; stops when it is left."""

    def __init__(self, plane: ControlPlane, folder: Path) -> None:
        super().__init__()
        self.plane = plane
        self.kubectl = Kubectl(plane.binaries.kubectl, plane.kubeconfig, folder)
        self.authority = trustme.CA()
        self.policies = folder / "policies"
        for source in (OWN_POLICIES, *(ROOT / "policies" / name for name in _BUNDLED)):
            shutil.copytree(source, self.policies / source.name)
        (folder / "state.yaml").write_text(cluster_state(example_world()))
        self._tls = Mount(folder / "tls")
        flags = {
            "tls-cert": folder / "tls" / "tls.crt",
            "tls-key": folder / "tls" / "tls.key",
            "cluster-state": folder / "state.yaml",
            "policies": self.policies,
            "release": "1.6",
        }
        self.replicas = [Replica(folder / f"replica-{index}.log", flags) for index in range(2)]

    def certificates(self) -> set[str]:
        """Read what the replicas show to those who connect, as PEM."""
        return {ssl.get_server_certificate(("127.0.0.1", replica.port)) for replica in self.replicas}

    def issue(self) -> None:
        """Give the replicas a new certificate of the authority."""
        leaf = self.authority.issue_cert("127.0.0.1")
        self._tls.write({"tls.crt": leaf.cert_chain_pems[0].bytes(), "tls.key": leaf.private_key_pem.bytes()})

    def trust(self, *authorities: trustme.CA) -> None:
        """Tell the API servers where the webhook is and whose certificates they trust."""
        for document in traffic.registration(self._url, b"".join(one.cert_pem.bytes() for one in authorities)):
            shown = self.kubectl("apply", "--server-side", "--filename=-", stdin=document)
            assert shown.code == 0, shown.text

    def _start(self) -> None:
        self.issue()
        for replica in self.replicas:
            self._stack.callback(replica.stop, signal.SIGINT)  # without a drain
            replica.launch()
        for replica in self.replicas:
            replica.wait()
        self._url = f"https://127.0.0.1:{self._stack.enter_context(balancer(self.replicas))}"
        for name in (NAMESPACE, traffic.TENANT):
            self.plane.kubectl("create", "namespace", name)
        self.trust(self.authority)
        until(lambda: all(self._in_force(url) for url in self.plane.urls))

    def _in_force(self, url: str) -> bool:
        """Ask an API server whether it calls both webhooks: it takes up to a second to."""
        denied, patched = (
            self.kubectl("create", "--dry-run=server", f"--server={url}", "--filename=-", stdin=request.body)
            for request in traffic.requests()[1:3]
        )
        return "[colours]" in denied.text and denied.code == 1 and bool(patched.warnings)


@contextmanager
def balancer(replicas: list[Replica]) -> Iterator[int]:
    """Run the balancer, ready with its port."""
    backends = (f"{replica.port}:{replica.probe_port}" for replica in replicas)
    command = [sys.executable, "-m", "tests.faults.balancer", *backends]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield int(process.stdout.readline())
        finally:
            process.terminate()
