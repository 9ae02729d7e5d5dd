"""What is registered, on the real API server: compiled, obeyed, kept in step, and never made up."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.controller.harness import NOTHING, Cluster, about, policies, until
from webhook.cluster.client import Client
from webhook.cluster.faults import ApiError
from webhook.cluster.resources import CONFIG_MAPS as RESOURCE
from webhook.cluster.resources import MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS
from webhook.controller.duties import InForce
from webhook.controller.registration import VALIDATE, Endpoint, webhooks
from webhook.controller.rules import registration
from webhook.model.configuration import Configuration, Exempt
from webhook.model.policy import (
    NOWHERE,
    Expression,
    FailurePolicy,
    MatchResources,
    NamedExpression,
    ResourceRule,
)
from webhook.model.release import Minor
from webhook.sources import policies as sources


async def make(client: Client, namespace: str, name: str, **data: str) -> None:
    """Make a ConfigMap, or one with other data."""
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}
    await client.apply(RESOURCE.path(namespace, name), obj, manager="test")


@pytest.fixture
async def other(cluster: Cluster) -> str:
    """A namespace that is judged; that of cozyguard itself is not."""
    name = f"{cluster.namespace}-other"
    await cluster.client.create("/api/v1/namespaces", {"metadata": {"name": name}})
    cluster.stack.push_async_callback(cluster.client.delete, f"/api/v1/namespaces/{name}")
    return name


async def test_a_replica_registers_itself_and_is_asked(cluster: Cluster, other: str) -> None:
    one = await cluster.start()

    async def asked() -> bool:
        await make(cluster.client, other, "settings")
        return bool(one.server.asked["/validate", "settings"])

    await until(asked)
    (hook,) = await cluster.webhooks()
    assert hook["name"] == "validate.cozyguard.io"
    assert hook["failurePolicy"] == "Fail"
    assert await cluster.webhooks("mutating") == []
    assert one.sample("cozyguard_registration_in_sync", "validate") == 1


async def test_who_is_exempt_is_not_asked_about(
    cluster: Cluster, other: str, act_as: Callable[..., Awaitable[Client]]
) -> None:
    exempt = Exempt(users=frozenset({"it's me"}), groups=frozenset({"exempt"}), namespaces=frozenset({"kube-public"}))
    cluster.in_force = replace(cluster.in_force, configuration=Configuration(exempt=exempt))
    one = await cluster.start()

    async def asked() -> bool:
        await make(cluster.client, other, "settings")
        return bool(one.server.asked)

    await until(asked)
    for namespace in (cluster.namespace, "kube-system", "kube-public"):
        await make(cluster.client, namespace, f"{cluster.name}-out")
        await cluster.client.delete(RESOURCE.path(namespace, f"{cluster.name}-out"))
    for user, group in (("ada", "cozyguard:break-glass"), ("ada", "exempt"), ("it's me", "system:masters")):
        async with await act_as(user, group, "system:masters") as somebody:
            await make(somebody, other, f"by-{user[:2]}-{group[-5:]}", of=user)
    assert {name for _, name in one.server.asked} == {"settings"}
    async with await act_as("ada", "system:masters") as somebody:
        await make(somebody, other, "by-ada")
    assert one.server.asked["/validate", "by-ada"]


async def test_only_what_a_policy_wants_is_sent_and_once(cluster: Cluster, other: str) -> None:
    red, blue = (f"object.?data.?{colour}.orValue('') != ''" for colour in ("red", "blue"))
    both = policies(about("configmaps", red), about("configmaps", blue, "Ignore"))
    cluster.in_force = replace(cluster.in_force, policies=both)
    one = await cluster.start()

    async def asked() -> bool:
        await make(cluster.client, other, "first", red="1")
        await make(cluster.client, other, "second", blue="1")
        return bool(one.server.asked["/validate", "first"] and one.server.asked["/validate", "second"])

    await until(asked)
    one.server.asked.clear()
    await make(cluster.client, other, "red", red="1")
    await make(cluster.client, other, "blue", blue="1")
    await make(cluster.client, other, "purple", red="1", blue="1")
    await make(cluster.client, other, "neither", green="1")
    assert one.server.asked == {("/validate", name): 1 for name in ("red", "blue", "purple")}
    assert [hook["failurePolicy"] for hook in await cluster.webhooks()] == ["Fail", "Ignore"]


async def test_the_bundled_policies_can_be_registered_with_all_their_conditions(cluster: Cluster, other: str) -> None:
    cluster.in_force = replace(cluster.in_force, policies=sources.load([sources.bundled()]).policies)
    one = await cluster.start()
    hooks = await until(cluster.webhooks)
    assert not cluster.log.said("cannot test a match condition")
    assert [hook["name"] for hook in hooks] == ["validate.cozyguard.io", "validate-ignore.cozyguard.io"]
    assert {hook["name"] for hook in await cluster.webhooks("mutating")} <= {
        "mutate.cozyguard.io",
        "mutate-ignore.cozyguard.io",
    }

    async def asked() -> bool:
        await pod(cluster.client, other, "gpu", {"nvidia.com/gpu": "1"})
        return bool(one.server.asked["/validate", "gpu"])

    await until(asked)
    one.server.asked.clear()
    await pod(cluster.client, other, "plain", {"cpu": "1"})
    await pod(cluster.client, other, "other-gpu", {"nvidia.com/gpu": "1"})
    assert one.server.asked == {("/validate", "other-gpu"): 1}


async def pod(client: Client, namespace: str, name: str, limits: dict[str, str]) -> None:
    containers = [{"name": "main", "image": "example.org/a:1", "resources": {"limits": limits}}]
    obj = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": containers}}
    await client.create(f"/api/v1/namespaces/{namespace}/pods", obj, dryRun="All")


async def test_a_condition_that_the_api_server_refuses_is_left_out_and_no_other(cluster: Cluster) -> None:
    good, strange = "object.metadata.name == 'a'", "lookups_are_not_known_there(object)"
    some = policies(about("configmaps", "object != null"), about("secrets", good))
    broken = NamedExpression("strange", Expression(strange, NOWHERE))
    some = (replace(some[0], match_conditions=(broken,)), some[1])
    cluster.in_force = replace(cluster.in_force, policies=some)
    await cluster.start()
    (hook,) = await until(cluster.webhooks)
    expressions = " ".join(one["expression"] for one in hook["matchConditions"])
    assert good in expressions
    assert cluster.log.said("warning", "cannot test a match condition", "matchConditions") == (
        strange not in expressions
    )


async def test_other_policies_are_registered_at_once(cluster: Cluster) -> None:
    one = await cluster.start()
    await until(cluster.webhooks)
    both = policies(about("configmaps"), about("secrets"))
    cluster.in_force = InForce(both, cluster.in_force.release, cluster.in_force.configuration)
    one.controller.changed()

    async def registered() -> bool:
        return bool((await cluster.webhooks())[0]["rules"][0]["resources"] == ["configmaps", "secrets"])

    await until(registered)


@pytest.mark.parametrize(
    "edit",
    [
        [{"op": "replace", "path": "/webhooks/0/rules", "value": []}],
        [{"op": "replace", "path": "/webhooks/0/clientConfig/caBundle", "value": ""}],
        [{"op": "remove", "path": "/webhooks/0"}],
        [{"op": "add", "path": "/webhooks/0/objectSelector/matchLabels", "value": {"a": "b"}}],
        [{"op": "add", "path": "/webhooks/0/matchConditions/-", "value": {"name": "never", "expression": "false"}}],
    ],
    ids=["rules", "caBundle", "webhook", "objectSelector", "matchConditions"],
)
async def test_what_somebody_changes_is_repaired(cluster: Cluster, edit: list[dict[str, object]]) -> None:
    one = await cluster.start()
    before = await until(cluster.webhooks)
    await until(lambda: one.sample("cozyguard_registration_in_sync", "validate") == 1)
    await cluster.client.json_patch(VALIDATING_WEBHOOKS.path(name=cluster.name), edit)
    await until(lambda: one.sample("cozyguard_registration_repairs_total", "validate") == 1)
    assert await cluster.webhooks() == before
    assert cluster.log.said("warning", "registration repaired", cluster.name)


async def test_what_nobody_changes_is_written_once(cluster: Cluster) -> None:
    one = await cluster.start()
    await until(lambda: one.sample("cozyguard_registration_in_sync", "validate") == 1)
    path = VALIDATING_WEBHOOKS.path(name=cluster.name)
    version = (await cluster.client.get(path))["metadata"]["resourceVersion"]
    await one.stop()
    two = await cluster.start("two", endpoint=cluster.endpoint(one.server.port))
    await until(lambda: two.sample("cozyguard_registration_in_sync", "validate") == 1)
    await asyncio.sleep(1)  # it has looked three times
    assert (await cluster.client.get(path))["metadata"]["resourceVersion"] == version
    assert two.sample("cozyguard_registration_repairs_total", "validate") == NOTHING


async def test_without_the_shells_nothing_is_made_until_they_are_there(cluster: Cluster) -> None:
    await cluster.remove()
    one = await cluster.start()
    await until(lambda: cluster.log.said("error", "there is no ValidatingWebhookConfiguration", cluster.name))
    assert one.sample("cozyguard_controller_errors_total", "registration") >= 1
    for resource in (VALIDATING_WEBHOOKS, MUTATING_WEBHOOKS):
        with pytest.raises(ApiError, match="not found"):
            await cluster.client.get(resource.path(name=cluster.name))
    await cluster.shells()
    assert await until(cluster.webhooks)
    await until(lambda: cluster.log.said("goes on", "registration"))


async def test_a_right_that_is_missing_is_named_and_its_return_is_noticed(cluster: Cluster) -> None:
    role = f"/apis/rbac.authorization.k8s.io/v1/clusterroles/{cluster.name}"
    rules = (await cluster.client.get(role))["rules"]
    without = [rule | {"verbs": ["list", "watch"]} for rule in rules]
    await cluster.client.merge_patch(role, {"rules": without})
    one = await cluster.start()
    await until(lambda: cluster.log.said("error", "registration", "cannot patch resource", "forbidden"))
    assert one.sample("cozyguard_controller_errors_total", "registration") >= 1
    assert one.sample("cozyguard_registration_in_sync", "validate") == 0
    await cluster.client.merge_patch(role, {"rules": rules})
    assert await until(cluster.webhooks)


async def test_cert_manager_fills_in_whom_to_trust(cluster: Cluster) -> None:
    one = await cluster.start(inject_from="guard/serving")
    await one.controller.serves("some-leaf")
    (hook,) = await until(cluster.webhooks)
    assert hook["failurePolicy"] == "Ignore", "nothing is refused before cert-manager has come"
    path = VALIDATING_WEBHOOKS.path(name=cluster.name)
    live = await cluster.client.get(path)
    assert live["metadata"]["annotations"]["cert-manager.io/inject-ca-from"] == "guard/serving"
    bundle = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg=="
    injected = [{"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": bundle}]
    await cluster.client.json_patch(path, injected)

    async def strict() -> bool:
        (hook,) = await cluster.webhooks()
        return bool(hook["failurePolicy"] == "Fail" and hook["clientConfig"]["caBundle"] == bundle)

    await until(strict)


async def test_whatever_rules_policies_have_the_api_server_takes_what_is_made_of_them(client: Client) -> None:
    chance = random.Random(7)  # noqa: S311 - no secret
    resources = ("pods", "pods/*", "pods/status", "*", "*/*", "*/scale", "deployments", "deployments/*")
    (plain,) = policies(about("configmaps", "object != null"))
    endpoint = Endpoint(namespace="guard", name="dry-run")
    for _ in range(80):
        some = [
            replace(
                plain,
                name=f"p{index}",
                failure_policy=chance.choice(list(FailurePolicy)),
                match_conditions=chance.choice([plain.match_conditions, ()]),
                match=MatchResources(
                    resource_rules=(
                        ResourceRule(
                            chance.choice([("",), ("apps",), ("*",), ("", "apps")]),
                            chance.choice([("v1",), ("*",)]),
                            (chance.choice(resources),),
                            chance.choice([("CREATE",), ("CREATE", "UPDATE"), ("*",)]),
                            chance.choice([(), ("a",)]),
                            chance.choice(["*", "Namespaced"]),
                        ),
                    )
                ),
            )
            for index in range(chance.randint(1, 5))
        ]
        made = registration(some, Minor(1, 6), Configuration(), datetime.now(UTC))
        hooks = webhooks(VALIDATE, made.validating, endpoint, Configuration().exempt, "")
        obj = {
            "apiVersion": VALIDATING_WEBHOOKS.api_version,
            "kind": VALIDATING_WEBHOOKS.kind,
            "metadata": {"name": "dry-run"},
            "webhooks": hooks,
        }
        stored = await client.create(VALIDATING_WEBHOOKS.path(), obj, dryRun="All")
        assert [hook["rules"] for hook in stored["webhooks"]] == [hook["rules"] for hook in hooks]


async def test_our_service_account_is_exempt_and_a_person_that_we_act_for_is_not(cluster: Cluster) -> None:
    one = await cluster.start()
    (hook,) = await until(cluster.webhooks)
    assert f"system:serviceaccount:{cluster.namespace}:cozyguard" in str(hook["matchConditions"])
    await one.stop()
    await cluster.start("administrator", cluster.client)

    async def judged() -> bool:
        (hook,) = await cluster.webhooks()
        return "not-exempt-user" not in {one["name"] for one in hook["matchConditions"]}

    await until(judged)


async def test_without_a_name_certificates_are_kept_and_nothing_is_registered(cluster: Cluster) -> None:
    endpoint = replace(cluster.endpoint(8443), name="")
    one = await cluster.start(endpoint=endpoint)
    await until(lambda: one.server.leaf)
    await until(lambda: one.sample("cozyguard_certificate_rotation", "rest") == 1)
    assert await cluster.webhooks() == []
    assert one.sample("cozyguard_controller_errors_total", "registration") == NOTHING
