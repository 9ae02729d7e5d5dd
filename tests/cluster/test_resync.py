"""History that the API server has forgotten: etcd compacted, the API server restarted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.relay import Relay
from tests.controlplane.binaries import find
from tests.controlplane.plane import ControlPlane
from webhook.cluster.access import Access
from webhook.cluster.client import Client
from webhook.cluster.faults import ApiError
from webhook.cluster.reflector import Pace, Reflector
from webhook.cluster.resources import CONFIG_MAPS
from webhook.cluster.table import Table

PACE = Pace(first=0.05, most=0.2, slow=0.2)
COLLECTION = CONFIG_MAPS.path("default")


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    """A control plane that may be harmed."""
    with ControlPlane(find()) as made:
        yield made


async def test_a_copy_whose_place_in_history_is_gone_is_made_anew(
    plane: ControlPlane, tmp_path: Path, until: Callable[[Callable[[], Any]], Any]
) -> None:
    seen: list[set[str]] = []

    class Witness(Table):
        def replace(self, objects: Any) -> None:
            super().replace(objects)
            seen.append({obj["metadata"]["name"] for obj in self.list()})

    async with (
        await Client.connect(Access(plane.kubeconfig)) as client,
        Relay(plane, tmp_path) as relay,
        await Client.connect(relay.access()) as through,
    ):
        for name in ("goes", "stays"):
            await client.create(COLLECTION, {"metadata": {"name": name}})
        table = Witness()
        reflector = Reflector(through, CONFIG_MAPS, namespace="default", store=table, pace=PACE)
        task = asyncio.create_task(reflector.run())
        await reflector.synced.wait()
        await relay.cut()
        await client.delete(CONFIG_MAPS.path("default", "goes"))
        await client.create(COLLECTION, {"metadata": {"name": "comes"}})
        plane.compact()
        await asyncio.to_thread(plane.restart, 0)  # what it had in memory would still do
        await relay.mend()
        await until(lambda: table.get("default", "comes"))
        task.cancel()
        await asyncio.wait([task])
        assert [names - {"kube-root-ca.crt"} for names in seen] == [{"goes", "stays"}, {"stays", "comes"}]
        assert reflector.errors["expired"] == 1
        assert reflector.lists == 2


async def test_a_list_whose_rest_is_gone_says_so(plane: ControlPlane) -> None:
    async with await Client.connect(Access(plane.kubeconfig)) as client:
        for number in range(3):
            await client.create(COLLECTION, {"metadata": {"name": f"page-{number}"}})
        pages = client.pages(COLLECTION, limit=1)
        await anext(pages)
        await client.create(COLLECTION, {"metadata": {"name": "later"}})
        plane.compact()
        await asyncio.to_thread(plane.restart, 0)
        with pytest.raises(ApiError) as gone:
            await anext(pages)
        assert gone.value.is_gone
