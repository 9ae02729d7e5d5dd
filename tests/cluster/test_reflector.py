"""A copy of a collection of a real API server, over a way that can be cut."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.cluster.relay import Relay
from webhook.cluster.client import Client
from webhook.cluster.faults import Unreachable
from webhook.cluster.reflector import Pace, Reflector, State
from webhook.cluster.resources import CONFIG_MAPS, Resource
from webhook.cluster.table import Table

Object = dict[str, Any]
Until = Callable[[Callable[[], Any]], Any]

PACE = Pace(first=0.05, most=0.2, slow=0.2)
SELECTOR = "made-by=us"


def config_map(name: str, **data: str) -> Object:
    return {"metadata": {"name": name, "labels": {"made-by": "us"}}, "data": data}


class Copy:
    """A reflector that runs, and its table."""

    def __init__(self, client: Client, namespace: str, resource: Resource = CONFIG_MAPS) -> None:
        self.table = Table()
        self.reflector = Reflector(
            client, resource, namespace=namespace, label_selector=SELECTOR, store=self.table, pace=PACE
        )

    @property
    def names(self) -> set[str]:
        return {obj["metadata"]["name"] for obj in self.table.list()}


@asynccontextmanager
async def running(copy: Copy) -> AsyncIterator[Copy]:
    task = asyncio.create_task(copy.reflector.run())
    try:
        yield copy
    finally:
        task.cancel()
        await asyncio.wait([task])


@pytest.fixture
async def through(relay: Relay) -> AsyncIterator[Client]:
    async with await Client.connect(relay.access()) as made:
        yield made


@pytest.fixture
async def copy(through: Client, namespace: str) -> AsyncIterator[Copy]:
    """A copy of the namespace's ConfigMaps, which are none."""
    async with running(Copy(through, namespace)) as made:
        await made.reflector.synced.wait()
        yield made


async def test_more_objects_than_a_page_holds_are_all_there(client: Client, namespace: str) -> None:
    names = {f"n{number}" for number in range(520)}
    waiting = iter(names)

    async def make(share: Iterator[str]) -> None:
        for name in share:
            await client.create(CONFIG_MAPS.path(namespace), config_map(name))

    await asyncio.gather(*(make(waiting) for _ in range(16)))
    async with running(Copy(client, namespace)) as copy:
        await copy.reflector.synced.wait()
        assert copy.names == names


async def test_what_changes_is_told(client: Client, namespace: str, copy: Copy, until: Until) -> None:
    await client.create(CONFIG_MAPS.path(namespace), config_map("one", a="1"))
    await until(lambda: copy.names == {"one"})
    await client.merge_patch(CONFIG_MAPS.path(namespace, "one"), {"data": {"a": "2"}})
    await until(lambda: [obj["data"] for obj in copy.table.list()] == [{"a": "2"}])
    await client.merge_patch(CONFIG_MAPS.path(namespace, "one"), {"metadata": {"labels": {"made-by": "others"}}})
    await until(lambda: not copy.names)
    assert (copy.reflector.lists, copy.reflector.watches) == (1, 1)


async def test_a_watch_that_breaks_is_resumed_where_it_stopped(
    client: Client, namespace: str, copy: Copy, relay: Relay, until: Until
) -> None:
    await client.create(CONFIG_MAPS.path(namespace), config_map("first"))
    await until(lambda: copy.names == {"first"})
    await relay.cut()
    await client.create(CONFIG_MAPS.path(namespace), config_map("second"))
    await client.delete(CONFIG_MAPS.path(namespace, "first"))
    await until(lambda: isinstance(copy.reflector.last_error, Unreachable))
    assert copy.names == {"first"}
    assert copy.reflector.synced.is_set()
    await relay.mend()
    await until(lambda: copy.names == {"second"})
    assert copy.reflector.lists == 1
    assert copy.reflector.last_error is None
    assert copy.reflector.errors["unreachable"] > 0


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No bookmark for a second is silence enough."""
    monkeypatch.setattr("webhook.cluster.transport.WATCH_SILENCE_SECONDS", 1.0)


async def test_a_connection_that_falls_silent_is_given_up(
    impatient: None, client: Client, namespace: str, copy: Copy, relay: Relay, until: Until
) -> None:
    await client.create(CONFIG_MAPS.path(namespace), config_map("before"))
    await until(lambda: copy.names == {"before"})
    relay.silence()
    await client.create(CONFIG_MAPS.path(namespace), config_map("after"))
    await until(lambda: copy.names == {"before", "after"})
    assert copy.reflector.lists == 1
    assert not copy.reflector.errors


async def test_an_api_server_that_cannot_be_reached_at_first_is_waited_for(
    client: Client, namespace: str, relay: Relay, until: Until
) -> None:
    await client.create(CONFIG_MAPS.path(namespace), config_map("one"))
    access = relay.access()
    await relay.cut()
    async with await Client.connect(access) as through, running(Copy(through, namespace)) as copy:
        await until(lambda: copy.reflector.errors["unreachable"] > 6)
        assert copy.reflector.state is State.UNKNOWN
        assert not copy.reflector.answered.is_set()
        await relay.mend()
        await copy.reflector.synced.wait()
        assert copy.names == {"one"}


async def test_a_list_that_is_forbidden_is_told_and_tried_again(
    client: Client, namespace: str, relay: Relay, until: Until
) -> None:
    await client.create(CONFIG_MAPS.path(namespace), config_map("one"))
    async with await Client.connect(relay.access(**{"as": "jane"})) as jane, running(Copy(jane, namespace)) as copy:
        await copy.reflector.answered.wait()
        assert copy.reflector.state is State.FORBIDDEN
        assert not copy.reflector.synced.is_set()
        assert 'cannot list resource "configmaps"' in str(copy.reflector.last_error)
        await _allow(client, namespace, "jane")
        await copy.reflector.synced.wait()
        assert copy.names == {"one"}
        await client.delete(f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/rolebindings/jane")
        await until(lambda: _is_forbidden(relay, copy))
        assert not copy.names


def _is_forbidden(relay: Relay, copy: Copy) -> bool:
    relay.drop()  # a watch that was allowed when it began goes on
    return copy.reflector.state is State.FORBIDDEN


async def _allow(client: Client, namespace: str, user: str) -> None:
    group = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}"
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "watch"]}]
    await client.create(f"{group}/roles", {"metadata": {"name": user}, "rules": rules})
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": user}
    subjects = [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}]
    await client.create(f"{group}/rolebindings", {"metadata": {"name": user}, "roleRef": role, "subjects": subjects})


async def test_a_resource_that_is_not_served_has_no_objects(client: Client, namespace: str) -> None:
    nothing = Resource("example.org", "v1", "things", "Thing", namespaced=True)
    async with running(Copy(client, namespace, nothing)) as copy:
        await copy.reflector.synced.wait()
        assert copy.reflector.state is State.NOT_SERVED
        assert not copy.names
