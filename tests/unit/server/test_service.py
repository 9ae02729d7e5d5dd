"""What ends a server besides signals; how it serves is tested over real sockets in `tests/http`."""

import asyncio
import json
from pathlib import Path

import pytest
import trustme

from webhook.errors import CozyguardError
from webhook.server.logs import Log
from webhook.server.service import Service
from webhook.server.settings import Settings
from webhook.server.signals import Stop

POLICIES = Path(__file__).parents[2] / "e2e" / "policies"


async def test_a_fault_of_the_work_in_the_cluster_ends_the_server_and_is_logged_by_place(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    leaf = trustme.CA().issue_cert("localhost")
    leaf.private_key_pem.write_to_path(tmp_path / "tls.key")
    leaf.cert_chain_pems[0].write_to_path(tmp_path / "tls.crt")
    settings = Settings(tls_cert=tmp_path / "tls.crt", tls_key=tmp_path / "tls.key", policies=(POLICIES,))
    service, stop = Service(settings, Log()), Stop()

    async def work() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(fail())

    async def fail() -> None:
        raise KeyError("hunter2")

    asyncio.create_task(work()).add_done_callback(service._ended)
    with pytest.raises(CozyguardError, match="stopped by a fault of its own"):
        await asyncio.wait_for(service.serve_until(stop), 10)
    line = json.loads(capfd.readouterr().err.splitlines()[0])
    assert (line["msg"], line["error"]) == ("the work in the cluster has failed", "KeyError")
    assert "hunter2" not in json.dumps(line)
