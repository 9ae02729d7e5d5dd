"""Two API servers on one etcd, two replicas behind a balancer, and a load.

`COZYGUARD_FAULT_ROUNDS` has each fault happen that many times; `COZYGUARD_FAULT_RATE` sets the requests a second.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from typing import Final

import pytest

from tests.controlplane.binaries import find
from tests.controlplane.plane import ControlPlane
from tests.faults import table, traffic
from tests.faults.load import Counts, Load
from tests.faults.site import Site

RATE: Final = float(os.environ.get("COZYGUARD_FAULT_RATE", "70"))
AROUND: Final = 1.0
"""Seconds of load before a fault and after it."""

UnderLoad = Callable[[str], AbstractAsyncContextManager[Counts]]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A control plane of these tests' own, as they restart and pause it, with the webhook in force."""
    with ExitStack() as stack:
        plane = stack.enter_context(ControlPlane(find(), apiservers=2))
        yield stack.enter_context(Site(plane, tmp_path_factory.mktemp("faults")))


@pytest.fixture
def under_load(site: Site, request: pytest.FixtureRequest) -> UnderLoad:
    """Send requests while a fault happens, and put what became of them into the table."""
    load = Load(site.plane.urls, site.plane.token, site.plane.certificate, traffic.requests(), RATE)

    @asynccontextmanager
    async def run(fault: str) -> AsyncIterator[Counts]:
        async with load.running() as counts:
            table.add(request.config, fault, counts)
            await asyncio.sleep(AROUND)
            yield counts
            await asyncio.sleep(AROUND)

    return run
