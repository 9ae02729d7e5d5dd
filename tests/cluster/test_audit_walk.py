"""A walk through kinds that change under its feet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.cluster.relay import Relay
from webhook.cluster.client import Client
from webhook.cluster.faults import ApiError
from webhook.cluster.pager import Pager
from webhook.cluster.rate import Rate
from webhook.cluster.resources import CONFIG_MAPS, CUSTOM_RESOURCES, Resource
from webhook.engine.policyset import PolicySet
from webhook.runs.audit.extent import Extent
from webhook.runs.audit.targets import Target
from webhook.runs.audit.walk import walk

Object = dict[str, Any]
NO_POLICIES = PolicySet.link(())
WIDGETS = Resource("audit.example.org", "v1", "widgets", "Widget", namespaced=True)


def definition(resource: Resource) -> Object:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": resource.version, "served": True, "storage": True, "schema": schema}
    return {
        "metadata": {"name": resource.full_name},
        "spec": {
            "group": resource.group,
            "names": {"plural": resource.plural, "kind": resource.kind},
            "scope": "Namespaced",
            "versions": [version],
        },
    }


async def test_a_kind_that_is_deleted_meanwhile_is_told_and_the_others_are_covered(
    client: Client, namespace: str
) -> None:
    await client.create(CUSTOM_RESOURCES.path(), definition(WIDGETS))
    while not await served(client, namespace):
        pass
    for number in range(60):
        await client.create(WIDGETS.path(namespace), widget(number))
    await client.create(CONFIG_MAPS.path(namespace), {"metadata": {"name": "after"}})
    seen: list[str] = []

    async def take(target: Target, objects: Sequence[Object]) -> Sequence[Object]:
        seen.extend(one["metadata"]["name"] for one in objects)
        if target.resource is WIDGETS and len(seen) == len(objects):
            await client.delete(CUSTOM_RESOURCES.path(name=WIDGETS.full_name))
            while await served(client, namespace):
                pass
        return ()

    targets = [Target(WIDGETS, NO_POLICIES), Target(CONFIG_MAPS, NO_POLICIES)]
    coverage = await walk(targets, Extent((namespace,)), Pager(client, Rate(1)), 1, take)
    assert [str(one) for one in coverage.notices] == [
        f"{WIDGETS.full_name} in {namespace}: is served no longer: it was deleted while the audit ran"
    ]
    assert coverage.complete == [targets[1]]
    assert not coverage.gaps
    assert seen[-1] == "after"
    assert len(seen) == len(set(seen))


async def served(client: Client, namespace: str) -> bool:
    """Can widgets be listed, by whatever answers."""
    try:
        await client.get(WIDGETS.path(namespace))
    except ApiError as error:
        if not error.is_not_found:
            raise
        return False
    return True


def widget(number: int) -> Object:
    return {"apiVersion": WIDGETS.api_version, "kind": WIDGETS.kind, "metadata": {"name": f"widget-{number:02}"}}


async def test_a_connection_that_breaks_is_made_again(relay: Relay, client: Client, namespace: str) -> None:
    for number in range(60):
        await client.create(CONFIG_MAPS.path(namespace), {"metadata": {"name": f"map-{number:02}"}})
    seen: list[str] = []

    async def take(_: Target, objects: Sequence[Object]) -> Sequence[Object]:
        if not seen:
            relay.drop()
        seen.extend(one["metadata"]["name"] for one in objects)
        return ()

    async with await Client.connect(relay.access()) as through:
        coverage = await walk(
            [Target(CONFIG_MAPS, NO_POLICIES)], Extent((namespace,)), Pager(through, Rate(2)), 1, take
        )
    assert seen == [f"map-{number:02}" for number in range(60)]
    assert not coverage.gaps


async def test_a_cluster_that_is_gone_for_good_leaves_what_was_found(
    relay: Relay, client: Client, namespace: str, monkeypatch: Any
) -> None:
    monkeypatch.setattr("webhook.cluster.pager._TRIES", 2)
    for number in range(60):
        await client.create(CONFIG_MAPS.path(namespace), {"metadata": {"name": f"map-{number:02}"}})
    seen: list[str] = []

    async def take(_: Target, objects: Sequence[Object]) -> Sequence[Object]:
        if not seen:
            await relay.cut()
        seen.extend(one["metadata"]["name"] for one in objects)
        return ()

    async with await Client.connect(relay.access()) as through:
        coverage = await walk(
            [Target(CONFIG_MAPS, NO_POLICIES)], Extent((namespace,)), Pager(through, Rate(2)), 1, take
        )
    assert len(seen) == 50
    assert coverage.unreachable
    assert "cannot be reached" in coverage.gaps[0].message
