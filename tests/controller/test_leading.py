"""One replica leads: whoever stops, hangs or is cut off, another one takes over, and there are never two."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import pytest

from tests.controller.harness import TERMS, Cluster, Relay, Running, until
from tests.controlplane.plane import ControlPlane
from webhook.cluster.client import Client
from webhook.cluster.resources import LEASES

Act = Callable[..., Awaitable[Client]]


@pytest.fixture
def cut_off(
    cluster: Cluster, control_plane: ControlPlane, act_as: Act
) -> Callable[[], Awaitable[tuple[Client, Relay]]]:
    """Make a client whose way to the API server can be cut."""

    async def make() -> tuple[Client, Relay]:
        relay = Relay(control_plane.url)
        await relay.open()
        client = await act_as(f"system:serviceaccount:{cluster.namespace}:cozyguard", port=relay.port)
        cluster.stack.push_async_callback(relay.cut)
        cluster.stack.push_async_callback(client.close)
        return client, relay

    return make


async def never_two(*replicas: Running) -> None:
    while True:
        assert sum(one.leads for one in replicas) <= 1
        await asyncio.sleep(0.005)


async def holder(cluster: Cluster) -> str:
    lease = await cluster.client.get(LEASES.path(cluster.namespace, "cozyguard-controller"))
    return str(lease["spec"]["holderIdentity"])


async def test_of_two_replicas_one_leads_and_the_other_follows_at_once_when_it_stops(cluster: Cluster) -> None:
    one, two = await cluster.start("one"), await cluster.start("two")
    first = await until(lambda: next((each for each in (one, two) if each.leads), None))
    second = two if first is one else one
    await until(cluster.webhooks)
    watching = asyncio.create_task(never_two(one, two))
    await asyncio.sleep(TERMS.duration)
    assert first.leads
    assert not second.leads
    began = time.monotonic()
    await first.stop()
    await until(lambda: second.leads)
    assert time.monotonic() - began < TERMS.duration, "the lease was given back, nobody waits until it runs out"
    assert not watching.done()
    watching.cancel()


async def test_a_leader_that_is_cut_off_stops_leading_before_another_one_begins(
    cluster: Cluster, cut_off: Callable[[], Awaitable[tuple[Client, Relay]]]
) -> None:
    client, relay = await cut_off()
    one = await cluster.start("one", client)
    await until(lambda: one.leads)
    two = await cluster.start("two")
    watching = asyncio.create_task(never_two(one, two))
    began = time.monotonic()
    await relay.cut()
    await until(lambda: not one.leads)
    assert not two.leads
    await until(lambda: two.leads)
    assert time.monotonic() - began < 20
    assert cluster.log.said("error", "leader-election", "cannot be reached")
    assert cluster.log.said("warning", "no longer leading")
    await relay.open()
    await until(lambda: cluster.log.said("info", "goes on", "leader-election"))
    assert await holder(cluster) == "two"
    assert not watching.done()
    watching.cancel()


async def test_a_leader_that_is_killed_is_followed_when_its_lease_has_run_out(cluster: Cluster) -> None:
    one = await cluster.start("one")
    await until(lambda: one.leads)
    one.controller._election._release = _nothing  # type: ignore[method-assign]  # as a process that is killed
    two = await cluster.start("two")
    await one.stop()
    assert await holder(cluster) == "one"
    began = time.monotonic()
    await until(lambda: two.leads)
    assert time.monotonic() - began < TERMS.duration + 4 * TERMS.retry
    await until(cluster.webhooks)


async def _nothing() -> None:
    pass


async def test_a_lease_that_somebody_deletes_is_made_anew(cluster: Cluster) -> None:
    one = await cluster.start("one")
    await until(lambda: one.leads)
    path = LEASES.path(cluster.namespace, "cozyguard-controller")
    uid = (await cluster.client.get(path))["metadata"]["uid"]
    await cluster.client.delete(path)

    async def anew() -> bool:
        leases = (await cluster.client.get(LEASES.path(cluster.namespace)))["items"]
        return any(one["metadata"]["uid"] != uid and one["spec"].get("leaseTransitions") for one in leases)

    await until(anew)
    assert one.leads


async def test_a_clock_that_is_wrong_takes_nobodys_lease(cluster: Cluster) -> None:
    spec = {"holderIdentity": "other", "leaseDurationSeconds": 2, "renewTime": "2001-01-01T00:00:00.000000Z"}
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "cozyguard-controller"}}
    made = await cluster.client.create(LEASES.path(cluster.namespace), lease | {"spec": spec})
    one = await cluster.start("one")
    path = LEASES.path(cluster.namespace, "cozyguard-controller")
    for second in range(6):  # renewed all the time, by a clock that stands in the past
        made["spec"]["renewTime"] = f"2001-01-01T00:00:0{second}.000000Z"
        made = await cluster.client.replace(path, made)
        await asyncio.sleep(0.5)
        assert not one.leads
    await until(lambda: one.leads)


async def test_an_api_server_that_cannot_be_reached_at_first_is_waited_for(
    cluster: Cluster, cut_off: Callable[[], Awaitable[tuple[Client, Relay]]]
) -> None:
    client, relay = await cut_off()
    await relay.cut()
    one = await cluster.start("one", client)
    await until(lambda: one.sample("cozyguard_controller_errors_total", "leader-election") >= 1)
    await until(lambda: one.sample("cozyguard_controller_errors_total", "certificate") >= 1)
    assert cluster.log.said("error", "cannot be reached", "does it run there?")
    await relay.open()
    await until(cluster.webhooks)
    assert one.server.leaf
