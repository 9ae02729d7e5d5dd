"""What policies look up, kept from a real API server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.relay import Relay
from webhook.cel.errors import NotKnown
from webhook.cluster.cache import WatchCache
from webhook.cluster.client import Client
from webhook.cluster.reflector import Pace
from webhook.cluster.resources import CONFIG_MAPS, CUSTOM_RESOURCES, DEPLOYMENTS, NAMESPACES, PACKAGE_SOURCES
from webhook.cluster.telling import report, samples
from webhook.cluster.wants import Wants, wanted
from webhook.engine.policyset import PolicySet
from webhook.model.selector import LabelSelector, Requirement
from webhook.sources import compiled, releases
from webhook.sources.bundled import bundled

Object = dict[str, Any]
Until = Callable[[Callable[[], Any]], Any]
Wanting = Callable[..., Wants]

PACE = Pace(first=0.05, most=0.2, slow=0.2)


@pytest.fixture
def wanting(tmp_path: Path) -> Wanting:
    """Give what a policy wants that looks up `lookups.x`, with an expression that reads it."""

    def write(expression: str, **lookup: Any) -> Wants:
        spec = {
            "matchConstraints": {
                "resourceRules": [
                    {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}
                ]
            },
            "lookups": [{"name": "x"} | lookup],
            "validations": [{"expression": expression, "message": "no"}],
        }
        file = tmp_path / "policy.yaml"
        kind = {"apiVersion": "cozyguard.io/v1alpha1", "kind": "AdmissionPolicy"}
        file.write_text(json.dumps(kind | {"metadata": {"name": "p"}, "spec": spec}))
        made = compiled.load([file])
        assert not made.errors
        return wanted(PolicySet.link(made.policies))

    return write


@pytest.fixture
async def cache(client: Client) -> AsyncIterator[WatchCache]:
    made = WatchCache(client, pace=PACE)
    yield made
    await made.close()


def config_map(name: str, **data: str) -> Object:
    return {"metadata": {"name": name, "labels": {"n": name}}, "data": data}


async def test_nothing_is_known_before_it_is_followed(cache: WatchCache) -> None:
    with pytest.raises(NotKnown, match="ConfigMap ns/a"):
        cache.get("v1", "ConfigMap", "ns", "a")
    with pytest.raises(NotKnown, match="every ConfigMap in namespace ns"):
        cache.list("v1", "ConfigMap", "ns", None)
    with pytest.raises(NotKnown, match="Namespace ns"):
        cache.namespace("ns")
    assert not cache.synced


async def test_objects_are_found_by_name_by_namespace_and_by_label(
    cache: WatchCache, client: Client, namespace: str, wanting: Wanting
) -> None:
    for name in ("a", "b"):
        await client.create(CONFIG_MAPS.path(namespace), config_map(name, size="1", colour="red"))
    await cache.follow(wanting("lookups.x.all(c, c.data.size == '1')", apiVersion="v1", kind="ConfigMap"))
    assert cache.synced
    found = cache.get("v1", "ConfigMap", namespace, "a")
    assert found is not None
    assert found["data"] == {"size": "1"}
    assert cache.get("v1", "ConfigMap", namespace, "c") is None
    assert {each["metadata"]["name"] for each in cache.list("v1", "ConfigMap", namespace, None)} == {"a", "b"}
    assert len(cache.list("v1", "ConfigMap", "", None)) >= 2
    only = LabelSelector((Requirement("n", "In", ("b",)),))
    assert [each["metadata"]["name"] for each in cache.list("v1", "ConfigMap", namespace, only)] == ["b"]


async def test_objects_of_fixed_names_are_watched_alone(
    cache: WatchCache, client: Client, namespace: str, wanting: Wanting
) -> None:
    await client.create(CONFIG_MAPS.path(namespace), config_map("a", size="1"))
    wants = wanting(
        "lookups.x.data.size == '1'", apiVersion="v1", kind="ConfigMap", namespace=namespace, objectName="a"
    )
    await cache.follow(wants)
    assert cache.get("v1", "ConfigMap", namespace, "a") is not None
    with pytest.raises(NotKnown):
        cache.get("v1", "ConfigMap", namespace, "b")
    assert report(cache.watching)[f"ConfigMap {namespace}/a"]["objects"] == 1


async def test_more_is_kept_before_policies_that_read_more_come_into_force(
    cache: WatchCache, client: Client, namespace: str, wanting: Wanting
) -> None:
    await client.create(CONFIG_MAPS.path(namespace), config_map("a", size="1", colour="red"))
    lookup = {"apiVersion": "v1", "kind": "ConfigMap", "namespace": namespace, "objectName": "a"}
    some = wanting("lookups.x.data.size == '1'", **lookup)
    await cache.follow(some)
    following = asyncio.create_task(cache.follow(wanting("lookups.x.data.colour == 'red'", **lookup)))
    while not following.done():
        assert (cache.get("v1", "ConfigMap", namespace, "a") or {})["data"]["size"] == "1"
        await asyncio.sleep(0.001)
    assert (cache.get("v1", "ConfigMap", namespace, "a") or {})["data"] == {"size": "1", "colour": "red"}
    before = samples(cache.watching)["cozyguard_cache_requests_total"]
    await cache.follow(some)
    assert samples(cache.watching)["cozyguard_cache_requests_total"] == before


async def test_what_is_no_longer_wanted_is_forgotten(
    cache: WatchCache, client: Client, namespace: str, wanting: Wanting
) -> None:
    before = wanting("lookups.x.size() == 0", apiVersion="v1", kind="ConfigMap")
    after = wanting("lookups.x.size() == 0", apiVersion="v1", kind="Secret")
    await cache.follow(before)
    await cache.follow(after)
    assert cache.list("v1", "ConfigMap", "", None)
    cache.trim(after)
    with pytest.raises(NotKnown):
        cache.list("v1", "ConfigMap", "", None)
    assert cache.list("v1", "Secret", namespace, None) == []


def definition(group: str) -> Object:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "metadata": {"name": f"things.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": "things", "kind": "Thing"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    }


async def test_a_kind_that_is_not_served_has_no_objects_until_it_is(
    cache: WatchCache, client: Client, namespace: str, wanting: Wanting, until: Until
) -> None:
    await cache.follow(wanting("lookups.x.size() == 0", apiVersion="later.example.org/v1", kind="Thing"))
    assert cache.list("later.example.org/v1", "Thing", "", None) == []
    assert report(cache.watching)["Thing.later.example.org"] == {
        "synced": True,
        "state": "not served",
        "objects": 0,
        "lastError": "the API server does not serve this kind",
    }
    await client.create(CUSTOM_RESOURCES.path(), definition("later.example.org"))
    thing = {"apiVersion": "later.example.org/v1", "kind": "Thing", "metadata": {"name": "a"}}
    path = f"/apis/later.example.org/v1/namespaces/{namespace}/things"
    await until(lambda: report(cache.watching)["Thing.later.example.org"]["state"] == "synced")
    await client.create(path, thing)
    await until(lambda: cache.get("later.example.org/v1", "Thing", namespace, "a"))
    await client.delete(CUSTOM_RESOURCES.path(name="things.later.example.org"))


async def test_what_may_not_be_listed_is_not_known_and_says_what_to_grant(relay: Relay, wanting: Wanting) -> None:
    async with await Client.connect(relay.access(**{"as": "nobody"})) as client:
        cache = WatchCache(client, pace=PACE)
        await cache.follow(wanting("lookups.x.size() == 0", apiVersion="cozystack.io/v1alpha1", kind="Package"))
        assert cache.synced
        with pytest.raises(NotKnown, match=r"needs the verbs list and watch on packages\.cozystack\.io"):
            cache.list("cozystack.io/v1alpha1", "Package", "", None)
        assert report(cache.watching)["Package.cozystack.io"]["state"] == "forbidden"
        assert ["Package.cozystack.io", "forbidden", 1] in samples(cache.watching)["cozyguard_cache_errors_total"]
        await cache.close()


async def test_an_api_that_does_not_answer_leaves_the_others_alone(
    cache: WatchCache, client: Client, wanting: Wanting, until: Until
) -> None:
    services = "/apis/apiregistration.k8s.io/v1/apiservices"
    spec = {
        "group": "broken.example.org",
        "version": "v1",
        "groupPriorityMinimum": 100,
        "versionPriority": 100,
        "insecureSkipTLSVerify": True,
        "service": {"namespace": "default", "name": "nobody", "port": 443},
    }
    await client.create(services, {"metadata": {"name": "v1.broken.example.org"}, "spec": spec})
    try:
        wants = wanting("lookups.x.size() == 0", apiVersion="broken.example.org/v1", kind="Thing")
        following = asyncio.create_task(cache.follow(wants))
        await until(lambda: "does not answer" in str(report(cache.watching).get("Thing.broken.example.org")))
        await asyncio.wait_for(following, 10)
        with pytest.raises(NotKnown):
            cache.list("broken.example.org/v1", "Thing", "", None)
        assert cache.list("cozystack.io/v1alpha1", "PackageSource", "", None) == []
    finally:
        await client.delete(f"{services}/v1.broken.example.org")


async def test_the_release_is_read_off_the_cluster_and_its_changes_are_told(client: Client, until: Until) -> None:
    told: list[None] = []
    cache = WatchCache(client, pace=PACE, release_changed=lambda: told.append(None))
    await cache.follow(wanted(PolicySet.link(compiled.load([bundled()]).policies)))
    assert releases.detect(cache) is None
    containers = [{"name": "operator", "image": "ghcr.io/cozystack/cozystack-operator:v1.6.2"}]
    labels = {"app": "operator"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": containers}}
    deployment = {
        "metadata": {"name": "cozystack-operator"},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }
    source = {"apiVersion": "cozystack.io/v1alpha1", "kind": "PackageSource", "metadata": {"name": "cozystack.x"}}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "cozy-system"}}
    await client.apply(NAMESPACES.path(name="cozy-system"), namespace)
    try:
        await client.create(DEPLOYMENTS.path("cozy-system"), deployment)
        await until(lambda: str(releases.detect(cache)) == "1.6")
        told.clear()
        await client.merge_patch(
            DEPLOYMENTS.path("cozy-system", "cozystack-operator", "status"), {"status": {"observedGeneration": 1}}
        )
        await client.create(PACKAGE_SOURCES.path(), source | {"spec": {"variants": [{"name": "default"}]}})
        await until(lambda: told)
        assert len(told) == 1
        assert cache.list("cozystack.io/v1alpha1", "PackageSource", "", None)[0]["spec"] == {
            "variants": [{"name": "default"}]
        }
    finally:
        await client.delete(DEPLOYMENTS.path("cozy-system", "cozystack-operator"))
        await client.delete(PACKAGE_SOURCES.path(name="cozystack.x"))
        await cache.close()


async def test_a_namespace_that_was_made_a_moment_ago_is_asked_for(
    relay: Relay, client: Client, wanting: Wanting, namespace: str, until: Until
) -> None:
    async with await Client.connect(relay.access()) as through:
        cache = WatchCache(through, pace=Pace(first=20.0))
        await cache.follow(wanting("lookups.x.size() == 0", apiVersion="v1", kind="ConfigMap"))
        await client.merge_patch(NAMESPACES.path(name=namespace), {"metadata": {"labels": {"team": "a"}}})
        await until(lambda: "team" in cache.namespace(namespace)["metadata"]["labels"])
        relay.drop()  # the watch is resumed in some seconds only
        name = f"{namespace}-new"
        await client.create(NAMESPACES.path(), {"metadata": {"name": name, "labels": {"team": "a"}}})
        assert cache.namespace(name)["metadata"]["labels"] == {"kubernetes.io/metadata.name": name}
        await cache.learn_namespace(name)
        assert cache.namespace(name)["metadata"]["labels"]["team"] == "a"
        await cache.learn_namespace("absent")
        await client.delete(NAMESPACES.path(name=name))
        await cache.close()


async def test_what_was_given_up_goes_on_for_the_next_try(relay: Relay, wanting: Wanting) -> None:
    wants = wanting("lookups.x.size() == 0", apiVersion="cozystack.io/v1alpha1", kind="Package")
    async with await Client.connect(relay.access()) as client:
        cache = WatchCache(client, pace=PACE)
        await relay.cut()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(cache.follow(wants), 0.1)
        await relay.mend()
        await cache.follow(wants)
        assert cache.list("cozystack.io/v1alpha1", "Package", "", None) == []
        await cache.close()
