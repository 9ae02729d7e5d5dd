"""Certificates, on the real API server: made, rotated and mended while it asks us."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest

from tests.controller.harness import SECRET, Cluster, Running, until
from webhook.cluster.resources import CONFIG_MAPS, LEASES, SECRETS
from webhook.controller.certificates import authorities, fingerprint, issue
from webhook.controller.keyring import LEAF, Keyring


@pytest.fixture
async def other(cluster: Cluster) -> str:
    name = f"{cluster.namespace}-other"
    await cluster.client.create("/api/v1/namespaces", {"metadata": {"name": name}})
    cluster.stack.push_async_callback(cluster.client.delete, f"/api/v1/namespaces/{name}")
    return name


async def kept(cluster: Cluster) -> Keyring:
    return Keyring.of(await cluster.secret())


async def in_force(cluster: Cluster, namespace: str, *replicas: Running) -> None:
    """Wait until the API server asks us, and everything is at rest."""

    async def asked() -> bool:
        await write(cluster, namespace)
        return any(one.server.asked for one in replicas)

    await until(asked)
    await until(lambda: any(one.sample("cozyguard_certificate_rotation", "rest") == 1 for one in replicas))


async def write(cluster: Cluster, namespace: str) -> None:
    """Ask for something that is refused unless we answer: failurePolicy is Fail."""
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}
    await cluster.client.apply(CONFIG_MAPS.path(namespace, "settings"), obj, manager="test", dryRun="All")


@asynccontextmanager
async def steady_load(cluster: Cluster, namespace: str) -> AsyncIterator[None]:
    """Write all the time; the first write that is refused fails the test."""

    async def load() -> None:
        while True:
            await write(cluster, namespace)

    loading = asyncio.create_task(load())
    yield
    assert not loading.done(), loading.exception()
    loading.cancel()


def made(ago: timedelta) -> Keyring:
    """Make what the Secret would hold if all had been made so long ago."""
    pair, authority = issue(("127.0.0.1",), datetime.now(UTC) - ago)
    return Keyring(pair, authority, approved=fingerprint(pair.certificate))


async def test_an_old_pair_is_rotated_and_no_request_fails(cluster: Cluster, other: str) -> None:
    before = made(timedelta(days=61))
    await cluster.client.create(SECRETS.path(cluster.namespace), before.onto(None, cluster.namespace, SECRET))
    cluster.settle = 5
    one = await cluster.start()
    asked = asyncio.create_task(until(lambda: one.server.asked))
    while not asked.done():
        await write(cluster, other)
        await asyncio.sleep(0.02)
    async with steady_load(cluster, other):
        await until(lambda: one.server.leaf not in ("", before.leaf))
        await until(lambda: one.sample("cozyguard_certificate_rotation", "rest") == 1)
        await asyncio.sleep(1)
    after = await kept(cluster)
    assert after.leaf == one.server.leaf
    assert len(authorities(after.trusted)) == 1
    (hook,) = await cluster.webhooks()
    assert base64.b64decode(hook["clientConfig"]["caBundle"]) == after.trusted
    assert "next.crt" not in (await cluster.secret())["data"]
    for step in ("prepare", "switch", "retire"):
        assert cluster.log.said("info", "certificates", step)


@pytest.mark.parametrize("what", ["tls.key", "tls.crt", "ca.crt", "everything", "deleted"])
async def test_a_secret_that_somebody_breaks_is_mended_and_no_request_fails(
    cluster: Cluster, other: str, what: str
) -> None:
    one = await cluster.start()
    await in_force(cluster, other, one)
    before = await kept(cluster)
    path = SECRETS.path(cluster.namespace, SECRET)
    async with steady_load(cluster, other):
        if what == "deleted":
            await cluster.client.delete(path)
        else:
            values = {"tls.key": "", "tls.crt": "anVuaw==", "ca.crt": "anVuaw=="}
            broken = values if what == "everything" else {what: values[what]}
            await cluster.client.merge_patch(path, {"data": broken})
        await until(lambda: one.server.leaf != before.leaf)
        await until(lambda: one.sample("cozyguard_certificate_rotation", "rest") == 1)
        await asyncio.sleep(0.5)
    assert (await kept(cluster)).leaf == one.server.leaf
    assert cluster.log.said("error", "certificate", f"secret `{SECRET}`", "last good one is served on")
    assert one.sample("cozyguard_controller_errors_total", "certificate") >= 1
    key = base64.b64decode((await cluster.secret())["data"]["tls.key"]).decode()
    assert not any(line in str(cluster.log.lines) for line in key.splitlines()[1:-1])


async def test_a_pair_that_somebody_puts_there_is_not_taken(cluster: Cluster, other: str) -> None:
    one = await cluster.start()
    await in_force(cluster, other, one)
    pair, authority = issue(("127.0.0.1",), datetime.now(UTC))
    async with steady_load(cluster, other):
        foreign = Keyring(pair, authority, approved=(await kept(cluster)).approved)
        secret = foreign.onto(await cluster.secret(), "", "")
        await cluster.client.replace(SECRETS.path(cluster.namespace, SECRET), secret)
        await until(lambda: cluster.log.said("error", "somebody else has put it there"))
        await until(lambda: cluster.log.said("info", "switch"))
        await until(lambda: one.sample("cozyguard_certificate_rotation", "rest") == 1)
    assert one.server.leaf != fingerprint(pair.certificate)


async def test_a_pair_that_expired_while_nobody_was_there_is_replaced_at_once(cluster: Cluster, other: str) -> None:
    expired = made(timedelta(days=100))
    await cluster.client.create(SECRETS.path(cluster.namespace), expired.onto(None, cluster.namespace, SECRET))
    cluster.settle = 3600
    one = await cluster.start()
    await in_force(cluster, other, one)
    assert one.server.leaf not in ("", expired.leaf)
    assert cluster.log.said("error", "the certificate has expired; none is served yet")
    assert len(authorities((await kept(cluster)).trusted)) == 1


async def test_a_replica_says_what_it_serves_and_takes_its_lease_away_when_it_stops(
    cluster: Cluster, other: str
) -> None:
    one = await cluster.start("Pod_1.a")
    await in_force(cluster, other, one)
    path = LEASES.path(cluster.namespace, "cozyguard-replica-pod-1.a")
    annotations = (await cluster.client.get(path))["metadata"]["annotations"]
    assert annotations == {LEAF: one.server.leaf, "cozyguard.io/policies": "1"}
    await one.stop()
    leases = (await cluster.client.get(LEASES.path(cluster.namespace)))["items"]
    assert [lease["metadata"]["name"] for lease in leases] == ["cozyguard-controller"]


async def test_the_lease_of_a_replica_that_is_long_gone_is_deleted(cluster: Cluster) -> None:
    lease = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {
            "name": "cozyguard-replica-gone",
            "labels": {"app.kubernetes.io/name": "cozyguard", "app.kubernetes.io/component": "replica"},
        },
    }
    await cluster.client.create(LEASES.path(cluster.namespace), lease)
    await cluster.start(dead=1.0)
    await until(lambda: cluster.log.said("info", "lease of a dead replica deleted", "cozyguard-replica-gone"))
