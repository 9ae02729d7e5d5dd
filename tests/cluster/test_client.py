"""Requests to a real API server."""

from __future__ import annotations

import asyncio
import json
import pickle
import socket
import stat
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.controlplane.plane import ControlPlane
from webhook.cluster.access import Access, Credentials
from webhook.cluster.client import Client
from webhook.cluster.credentials import load_here
from webhook.cluster.faults import ApiError, Unreachable
from webhook.cluster.resources import CONFIG_MAPS, NAMESPACES
from webhook.errors import UsageError

Object = dict[str, Any]


def config_map(name: str, **data: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


@pytest.fixture
def kubeconfig(control_plane: ControlPlane, tmp_path: Path) -> Callable[..., Access]:
    """Write the control plane's kubeconfig with changes to its user and its cluster."""

    def write(cluster: Object | None = None, **user: Any) -> Access:
        config = json.loads(control_plane.kubeconfig.read_text())
        config["clusters"][0]["cluster"] |= cluster or {}
        if user:
            config["users"][0]["user"] = user
        file = tmp_path / "kubeconfig"
        file.write_text(json.dumps(config))
        return Access(file)

    return write


@pytest.fixture
def token(control_plane: ControlPlane) -> str:
    return str(json.loads(control_plane.kubeconfig.read_text())["users"][0]["user"]["token"])


async def _names(access: Access) -> list[str]:
    async with await Client.connect(access) as client:
        return [each["metadata"]["name"] for each in (await client.get(NAMESPACES.path()))["items"]]


async def test_an_object_is_made_read_changed_and_deleted(client: Client, namespace: str) -> None:
    collection, path = CONFIG_MAPS.path(namespace), CONFIG_MAPS.path(namespace, "one")
    made = await client.create(collection, config_map("one", a="1"))
    await client.replace(path, made | {"data": {"a": "2"}})
    with pytest.raises(ApiError) as stale:
        await client.replace(path, made | {"data": {"a": "3"}})
    await client.merge_patch(path, {"data": {"b": "1"}})
    await client.json_patch(
        path, [{"op": "test", "path": "/data/a", "value": "2"}, {"op": "remove", "path": "/data/a"}]
    )
    await client.apply(path, config_map("one", c="1"))
    assert stale.value.is_conflict
    assert (await client.get(path))["data"] == {"b": "1", "c": "1"}
    await client.delete(path)
    await client.delete(path)
    with pytest.raises(ApiError) as absent:
        await client.get(path)
    assert absent.value.is_not_found
    assert absent.value.reason == "NotFound"
    assert absent.value.details["kind"] == "configmaps"
    assert str(absent.value) == f'GET {path}: configmaps "one" not found (404)'


async def test_a_list_comes_in_pages_whose_items_say_what_they_are(client: Client, namespace: str) -> None:
    for number in range(5):
        await client.create(CONFIG_MAPS.path(namespace), config_map(f"n{number}"))
    pages = [page async for page in client.pages(CONFIG_MAPS.path(namespace), limit=2)]
    assert [[item["metadata"]["name"] for item in page.items] for page in pages] == [["n0", "n1"], ["n2", "n3"], ["n4"]]
    assert [page.remaining for page in pages] == [3, 1, 0]
    assert {page.resource_version for page in pages} == {pages[0].resource_version}
    assert (pages[2].items[0]["apiVersion"], pages[2].items[0]["kind"]) == ("v1", "ConfigMap")


async def test_a_watch_tells_changes_until_the_server_ends_it(client: Client, namespace: str) -> None:
    collection = CONFIG_MAPS.path(namespace)
    version = (await client.get(collection))["metadata"]["resourceVersion"]
    large = config_map("large", a="x" * 900_000)
    await client.create(collection, large)
    await client.delete(CONFIG_MAPS.path(namespace, "large"))
    events = [event async for event in client.watch(collection, version, timeoutSeconds="1")]
    assert [event.type for event in events] == ["ADDED", "DELETED"]
    assert events[0].object["data"] == large["data"]


async def test_two_applies_of_different_managers_conflict_unless_forced(client: Client, namespace: str) -> None:
    path = CONFIG_MAPS.path(namespace, "shared")
    await client.apply(path, config_map("shared", a="1"))
    with pytest.raises(ApiError) as refused:
        await client.apply(path, config_map("shared", a="2"), manager="somebody", force=False)
    assert refused.value.is_conflict
    assert "cozyguard" in str(refused.value)


async def test_a_token_in_a_file_is_read_again_when_it_is_refused(
    kubeconfig: Callable[..., Access], token: str, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    file.write_text("expired")
    async with await Client.connect(kubeconfig(tokenFile=str(file))) as client:
        with pytest.raises(ApiError) as refused:
            await client.get(NAMESPACES.path())
        file.write_text(token)
        assert (await client.get(NAMESPACES.path()))["items"]
    assert refused.value.status == 401


async def test_a_plugin_gives_the_credentials(kubeconfig: Callable[..., Access], token: str, tmp_path: Path) -> None:
    plugin = tmp_path / "plugin"
    answer = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": token}}
    plugin.write_text(f"#!/bin/sh\necho '{json.dumps(answer)}'\n")
    plugin.chmod(plugin.stat().st_mode | stat.S_IXUSR)
    user = {"apiVersion": answer["apiVersion"], "command": str(plugin), "interactiveMode": "Never"}
    assert "default" in await _names(kubeconfig(exec=user))


async def test_a_plugin_that_fails_is_named(kubeconfig: Callable[..., Access]) -> None:
    user = {"apiVersion": "client.authentication.k8s.io/v1", "command": "false", "interactiveMode": "Never"}
    with pytest.raises(UsageError, match="`false` gave no credentials; run it by hand to see why"):
        await Client.connect(kubeconfig(exec=user))


async def test_a_kubeconfig_may_act_for_somebody(kubeconfig: Callable[..., Access], token: str) -> None:
    access = kubeconfig(token=token, **{"as": "jane", "as-groups": ["system:authenticated", "developers"]})
    async with await Client.connect(access) as client:
        with pytest.raises(ApiError) as refused:
            await client.get(NAMESPACES.path())
        review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        who = await client.create("/apis/authentication.k8s.io/v1/selfsubjectreviews", review)
    assert refused.value.is_forbidden
    assert who["status"]["userInfo"] == {"username": "jane", "groups": ["system:authenticated", "developers"]}


@pytest.fixture
def service_account(control_plane: ControlPlane, token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the kubelet mounts into a pod."""
    host, port = control_plane.url.removeprefix("https://").split(":")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", port)
    authority = json.loads(control_plane.kubeconfig.read_text())["clusters"][0]["cluster"]["certificate-authority"]
    (tmp_path / "ca.crt").write_bytes(Path(authority).read_bytes())
    (tmp_path / "token").write_text(token)
    (tmp_path / "namespace").write_text("cozyguard\n")
    return tmp_path


async def test_a_pod_uses_its_service_account(service_account: Path) -> None:
    access = Access(service_account=service_account)
    assert "default" in await _names(access)
    assert access.namespace() == "cozyguard"


async def test_a_token_that_the_kubelet_exchanges_is_picked_up(service_account: Path, token: str) -> None:
    (service_account / "token").write_text("expired")
    async with await Client.connect(Access(service_account=service_account)) as client:
        (service_account / "token").write_text(token + "\n")
        assert (await client.get(NAMESPACES.path()))["items"]


async def test_nobody_at_the_address_is_told_with_the_address(kubeconfig: Callable[..., Access]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    with pytest.raises(Unreachable) as refused:
        await _names(kubeconfig({"server": f"https://127.0.0.1:{port}"}))
    assert f"https://127.0.0.1:{port} cannot be reached" in str(refused.value)


async def test_a_certificate_of_another_authority_is_told(kubeconfig: Callable[..., Access], tmp_path: Path) -> None:
    import trustme

    authority = tmp_path / "other.crt"
    trustme.CA().cert_pem.write_to_path(authority)
    with pytest.raises(Unreachable, match=r"is not trusted: .*; the authority named in the kubeconfig"):
        await _names(kubeconfig({"certificate-authority": str(authority)}))


async def test_no_error_tells_the_token(kubeconfig: Callable[..., Access], token: str) -> None:
    access = kubeconfig({"server": "https://127.0.0.1:1"}, token="secret-" + token)
    with pytest.raises(Unreachable) as refused:
        await _names(access)
    assert token not in repr(refused.value.__dict__) + str(refused.value) + repr(refused.value.__cause__)


@pytest.fixture
async def busy(kubeconfig: Callable[..., Access]) -> AsyncIterator[tuple[Client, list[str]]]:
    """Somebody in front of the API server who has no time for the first two requests."""
    from aiohttp import web

    asked: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(request.method)
        if len(asked) < 3:
            return web.json_response({"reason": "TooManyRequests"}, status=429, headers={"Retry-After": "0"})
        return web.json_response({"kind": "NamespaceList", "items": []})

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    access = kubeconfig({"server": f"http://127.0.0.1:{runner.addresses[0][1]}"})
    async with await Client.connect(access) as client:
        yield client, asked
    await runner.cleanup()


async def test_a_busy_api_server_is_asked_again_when_it_says(busy: tuple[Client, list[str]]) -> None:
    client, asked = busy
    assert await client.get(NAMESPACES.path()) == {"kind": "NamespaceList", "items": []}
    assert asked == ["GET", "GET", "GET"]


async def test_what_cannot_be_repeated_is_not(busy: tuple[Client, list[str]]) -> None:
    client, asked = busy
    with pytest.raises(ApiError) as refused:
        await client.create(NAMESPACES.path(), {"metadata": {"name": "n"}})
    assert (refused.value.status, refused.value.retry_after, asked) == (429, 0.0, ["POST"])


async def test_credentials_are_read_in_another_process_as_well(
    kubeconfig: Callable[..., Access], token: str, tmp_path: Path
) -> None:
    async def elsewhere(access: Access) -> Credentials:
        found = pickle.loads(pickle.dumps(await asyncio.to_thread(load_here, access)))  # noqa: S301  our own
        assert isinstance(found, Credentials)
        return found

    file = tmp_path / "token"
    file.write_text("expired")
    async with await Client.connect(kubeconfig(tokenFile=str(file)), elsewhere) as client:
        file.write_text(token)
        assert (await client.get(NAMESPACES.path()))["items"]
