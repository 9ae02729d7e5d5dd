"""Lists read page by page while things happen to them."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from aiohttp import web

from tests.controlplane.binaries import find
from tests.controlplane.plane import ControlPlane
from webhook.cluster.access import Access
from webhook.cluster.client import Client, Page
from webhook.cluster.faults import ApiError
from webhook.cluster.pager import Pager
from webhook.cluster.rate import Rate
from webhook.cluster.resources import CONFIG_MAPS, Resource

PATH = CONFIG_MAPS.path("default")
NAMES = [f"pager-{number:03}" for number in range(120)]


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    """A control plane that may be harmed."""
    with ControlPlane(find()) as made:
        yield made


@pytest.fixture
async def filled(plane: ControlPlane) -> AsyncIterator[Client]:
    """A client of it, with some ConfigMaps: three pages of them, if pages are small."""
    async with await Client.connect(Access(plane.kubeconfig)) as client:
        for name in NAMES:
            await client.create(PATH, {"metadata": {"name": name}})
        yield client
        await client.delete(PATH)


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webhook.cluster.pager._MOST", 50)


def names(page: Page) -> list[str]:
    return [one["metadata"]["name"] for one in page.items if one["metadata"]["name"].startswith("pager-")]


async def test_pages_show_the_list_as_it_was_at_the_first(filled: Client) -> None:
    seen: list[str] = []
    async for page in Pager(filled, Rate(1000)).pages(PATH):
        if not seen:
            await filled.delete(CONFIG_MAPS.path("default", "pager-110"))
            await filled.create(PATH, {"metadata": {"name": "pager-111-new"}})
        seen += names(page)
    assert seen == NAMES


async def test_a_list_goes_on_where_it_was_when_history_is_forgotten(filled: Client, plane: ControlPlane) -> None:
    seen: list[str] = []
    async for page in Pager(filled, Rate(1)).pages(PATH):
        if not seen:  # the second page is on its way, and waits for its turn
            await filled.create(PATH, {"metadata": {"name": "pager-111-new"}})
            plane.compact()
            plane.restart(0)  # its own memory of history goes too
        seen += names(page)
    assert seen == sorted([*NAMES, "pager-111-new"])


async def test_no_more_requests_are_made_than_agreed(filled: Client) -> None:
    rate, began = Rate(10), time.monotonic()
    for _ in range(2):
        async for _page in Pager(filled, rate).pages(PATH):
            pass
    assert time.monotonic() - began >= 0.5
    assert rate.requests == 6


async def test_a_page_of_large_objects_is_followed_by_smaller_pages(filled: Client) -> None:
    for name in NAMES[:60]:
        await filled.merge_patch(CONFIG_MAPS.path("default", name), {"data": {"x": "x" * 200_000}})
    sizes = [len(page.items) async for page in Pager(filled, Rate(1000)).pages(PATH)]
    assert sizes[0] == 50
    assert sizes[1] == 10


async def test_a_busy_api_server_is_given_the_time_that_it_asks_for(plane: ControlPlane, tmp_path: Any) -> None:
    asked: list[float] = []

    async def answer(_: web.Request) -> web.Response:
        """Somebody in front of the API server who has no time for the first requests."""
        asked.append(time.monotonic())
        if len(asked) <= 5:
            return web.json_response({"reason": "TooManyRequests"}, status=429, headers={"Retry-After": "0"})
        return web.json_response({"kind": "ConfigMapList", "metadata": {}, "items": []})

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    config = json.loads(plane.kubeconfig.read_text())
    config["clusters"][0]["cluster"] = {"server": f"http://127.0.0.1:{runner.addresses[0][1]}"}
    file = tmp_path / "kubeconfig"
    file.write_text(json.dumps(config))
    async with await Client.connect(Access(file)) as client:
        assert [page.items async for page in Pager(client, Rate(1000)).pages(PATH)] == [[]]
    await runner.cleanup()
    assert len(asked) == 6


async def test_a_refusal_is_raised_after_the_pages_that_came(filled: Client) -> None:
    with pytest.raises(ApiError) as refused:
        async for _page in Pager(filled, Rate(1000)).pages("/apis/example.org/v1/things"):
            pass
    assert refused.value.is_not_found


async def test_one_object_is_read_by_its_name_whatever_that_holds(filled: Client) -> None:
    roles = Resource("rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", namespaced=False)
    for name in ("pager", r"pager,a=b\c"):
        await filled.create(roles.path(), {"metadata": {"name": name}})
    for name in ("pager", r"pager,a=b\c", "absent"):
        found = [one async for page in Pager(filled, Rate(1000)).pages(roles.path(), name) for one in page.items]
        assert [one["metadata"]["name"] for one in found] == [name] * (name != "absent")
