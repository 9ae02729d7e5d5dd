"""A server whose API server does not answer: it waits, says for what, and ends when it is asked to."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.kubectl import until
from tests.faults.replica import Replica

_KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{name: gone, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: ada, user: {token: hunter2}}]
contexts: [{name: gone, context: {cluster: gone, user: ada}}]
current-context: gone
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Replica]:
    (tmp_path / "kubeconfig").write_text(_KUBECONFIG)
    policies = Path(__file__).parents[1] / "e2e" / "policies"
    flags = {"kubeconfig": tmp_path / "kubeconfig", "tls-secret": "cozyguard-tls", "policies": policies}
    made = Replica(tmp_path / "log", flags | {"drain-seconds": 0})
    made.launch()
    yield made
    made.stop()


def detail(server: Replica) -> dict[str, Any]:
    """Read `/readyz` of a server that is not ready."""
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{server.probe_port}/readyz", timeout=5)
    except urllib.error.HTTPError as answer:
        found: dict[str, Any] = json.load(answer)
        return found
    except OSError:
        return {}
    raise AssertionError("it is ready")


def metrics(server: Replica) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{server.probe_port}/metrics", timeout=5) as answer:
        text: str = answer.read().decode()
        return text


def test_it_is_not_ready_and_says_what_it_waits_for(server: Replica, tmp_path: Path) -> None:
    def waits() -> bool:
        workers = detail(server).get("workers") or [{}]
        watched = workers[0].get("lookups", {}).get("watched", {})
        return "cannot be reached" in str(watched.get("AdmissionPolicy.cozyguard.io", {}).get("lastError"))

    until(waits)
    until(lambda: 'cozyguard_controller_errors_total{task="leader-election"}' in metrics(server))
    assert 'cozyguard_cache_errors_total{error="unreachable",watched="AdmissionPolicy.cozyguard.io"}' in metrics(server)
    log = (tmp_path / "log").read_text()
    assert "https://127.0.0.1:1 cannot be reached" in log
    assert "hunter2" not in log
