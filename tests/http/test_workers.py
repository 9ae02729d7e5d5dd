"""Several processes on one port."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

ConfigMap = Callable[..., dict[str, Any]]
Policy = Callable[..., str]

REVIEWS = 'cozyguard_requests_total{endpoint="validate",operation="CREATE",outcome="denied"}'


def children(pid: int) -> list[int]:
    """Return the worker processes: all children but multiprocessing's own helper."""
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in listed if b"resource_tracker" not in Path(f"/proc/{child}/cmdline").read_bytes()]


def test_workers_share_the_port_and_are_told_as_one(serve: Any, config_map: ConfigMap, until: Any) -> None:
    server = serve("--workers", "2")
    until(lambda: server.probe("/readyz")[0] == 200)
    assert server.metric("cozyguard_workers") == 2
    for _ in range(20):
        server.review(config_map())
    until(lambda: server.metric(REVIEWS) == 20)

    victim, other = children(server.process.pid)
    os.kill(victim, signal.SIGKILL)
    until(lambda: server.metric("cozyguard_worker_restarts_total") == 1)
    assert server.metric(REVIEWS) == 20, "what the dead worker counted still counts"
    until(lambda: server.probe("/readyz")[0] == 200)
    assert other in children(server.process.pid)
    server.review(config_map())
    until(lambda: server.metric(REVIEWS) == 21)
    assert server.stop() == 0


def test_workers_end_when_their_parent_is_killed(serve: Any, until: Any) -> None:
    server = serve("--workers", "2")
    until(lambda: server.probe("/readyz")[0] == 200)
    workers = children(server.process.pid)
    server.process.kill()
    server.process.wait(10)
    until(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))


def test_workers_that_cannot_start_end_the_server_with_their_reason(serve: Any, policies: Path, policy: Policy) -> None:
    (policies / "label.yaml").write_text(policy("object.metadata. =="))
    server = serve("--workers", "2", wait=False)
    assert server.process.wait(15) == 2
    assert "label.yaml" in server.log_file.read_text()
