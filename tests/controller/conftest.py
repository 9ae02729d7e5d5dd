"""A cluster for each test: a namespace, the shells, and the rights of docs/registration.md."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.controller.harness import Cluster, about, clean_up, grant, policies
from tests.controlplane.plane import ControlPlane
from webhook.cluster.access import Access
from webhook.cluster.client import Client
from webhook.controller.duties import InForce
from webhook.model.configuration import Configuration
from webhook.model.release import Minor


@pytest.fixture
async def client(control_plane: ControlPlane) -> AsyncIterator[Client]:
    """The administrator's."""
    async with await Client.connect(Access(control_plane.kubeconfig)) as made:
        yield made


@pytest.fixture
def act_as(control_plane: ControlPlane, tmp_path: Path) -> Callable[..., Awaitable[Client]]:
    """Make a client that acts for somebody else, by a port of ours if it has to be cut off."""

    async def make(user: str, *groups: str, port: int = 0) -> Client:
        config = json.loads(control_plane.kubeconfig.read_text())
        if port:
            config["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{port}"
        config["users"][0]["user"] |= {"as": user, "as-groups": list(groups)}
        file = tmp_path / "impersonating.json"
        file.write_text(json.dumps(config))
        return await Client.connect(Access(file))

    return make


@pytest.fixture
async def cluster(
    client: Client, act_as: Callable[..., Awaitable[Client]], request: pytest.FixtureRequest
) -> AsyncIterator[Cluster]:
    """A cluster in which cozyguard has its rights, its shells, and one policy about ConfigMaps."""
    name = f"guard-{abs(hash(request.node.nodeid)) % 10**8}"
    user = await act_as(f"system:serviceaccount:{name}:cozyguard")
    await client.create("/api/v1/namespaces", {"metadata": {"name": name}})
    await grant(client, name)
    async with AsyncExitStack() as stack:
        in_force = InForce(policies(about("configmaps")), Minor(1, 6), Configuration())
        made = Cluster(client, user, name, name, in_force, stack)
        await made.shells()
        stack.push_async_callback(user.close)
        stack.push_async_callback(made.remove)
        try:
            yield made
        finally:
            await made.remove()
    await clean_up(client, name)
