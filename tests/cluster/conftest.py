"""A client of the control plane that all tests share, and names that are the test's own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.relay import Relay
from tests.controlplane.plane import ControlPlane
from webhook.cluster.access import Access
from webhook.cluster.client import Client

PATIENCE = 30.0
"""Seconds: far more than anything here takes, even on a busy machine."""


async def until(condition: Callable[[], Any]) -> Any:
    """Ask until a condition gives something true, and return it."""
    end = time.monotonic() + PATIENCE
    while not (met := condition()):
        assert time.monotonic() < end, "waited in vain"
        await asyncio.sleep(0.02)
    return met


@pytest.fixture(name="until")
def until_fixture() -> Callable[[Callable[[], Any]], Any]:
    return until


@pytest.fixture
async def client(control_plane: ControlPlane) -> AsyncIterator[Client]:
    """The administrator's."""
    async with await Client.connect(Access(control_plane.kubeconfig)) as made:
        yield made


@pytest.fixture
async def namespace(client: Client, request: pytest.FixtureRequest) -> AsyncIterator[str]:
    """A namespace of the test's own; nobody finishes deleting it."""
    name = f"cluster-{abs(hash(request.node.nodeid)) % 10**8}"
    await client.create("/api/v1/namespaces", {"metadata": {"name": name}})
    yield name
    await client.delete(f"/api/v1/namespaces/{name}")


@pytest.fixture
async def relay(control_plane: ControlPlane, tmp_path: Path) -> AsyncIterator[Relay]:
    """A way to the control plane that can be cut."""
    async with Relay(control_plane, tmp_path) as made:
        yield made
