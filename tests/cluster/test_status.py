"""What people see of policies and exceptions that they install, on a real API server."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.documents import EXCEPTION, POLICY
from tests.controlplane.plane import ControlPlane
from webhook.cluster.access import Access
from webhook.cluster.client import Client
from webhook.cluster.faults import ApiError
from webhook.cluster.resources import ADMISSION_POLICIES, POLICY_EXCEPTIONS
from webhook.controller.status import State, StatusWriter
from webhook.engine.compile import CompiledPolicy
from webhook.server.compiling import elsewhere
from webhook.sources import compiled, crd, installed
from webhook.sources.installed import Installation, Installed
from webhook.sources.policy_files import PolicyFile


class Leader:
    """Reads what is installed and writes its status, as the server does with watches."""

    def __init__(self, client: Client, files: tuple[CompiledPolicy, ...]) -> None:
        self.client, self.files = client, files
        self.failures: list[ApiError] = []
        self.installation = Installation(partial(elsewhere, installed.read))
        self.writer = StatusWriter(client, self.failures.append)
        self.state = State(Installed(), files, ())

    async def look(self, now: datetime | None = None, *, read: bool = True) -> float:
        """Write what has changed; objects are read only where their spec may have."""
        policies, exceptions = [
            [installed.kept(obj) for obj in (await self.client.get(one.path()))["items"]]
            for one in (ADMISSION_POLICIES, POLICY_EXCEPTIONS)
        ]
        found = self.installation.load(policies, exceptions) if read else self.state.installed
        self.state = State(found, self.files, (*policies, *exceptions))
        return await self.writer.write(self.state, now or datetime.now(UTC))


@pytest.fixture(scope="module")
def plane(control_plane: ControlPlane) -> ControlPlane:
    control_plane.install(crd.FOLDER)
    return control_plane


@pytest.fixture
async def leader(plane: ControlPlane, client: Client) -> AsyncIterator[Leader]:
    yield Leader(client, ())
    plane.kubectl("delete", "--ignore-not-found", "admissionpolicy/no-latest", "policyexception/log-image")


@pytest.fixture
def apply(plane: ControlPlane, tmp_path: Path) -> Callable[[str], None]:
    def write(text: str) -> None:
        (tmp_path / "object.yaml").write_text(text)
        plane.kubectl("apply", "-f", str(tmp_path / "object.yaml"))

    return write


def seen(plane: ControlPlane, kind: str, name: str) -> str:
    """What people look at, with the times left out that are others each time."""
    listed = plane.kubectl("get", kind, name)
    wide = plane.kubectl("get", kind, name, "-o", "wide")
    told = json.loads(plane.kubectl("get", kind, name, "-o", "json"))["status"]
    for condition in told["conditions"]:
        condition["lastTransitionTime"] = "…"
    text = f"{listed}\n{wide}\n{json.dumps(told, indent=2, ensure_ascii=False)}\n"
    return re.sub(r"\b\d+s\b( *)", lambda age: f"…{age[1] and '    '}", text)


async def test_an_invalid_policy_says_what_is_wrong_and_the_last_good_version_stays(
    leader: Leader, plane: ControlPlane, apply: Callable[[str], None], golden: Callable[[str, str], None]
) -> None:
    apply(POLICY)
    await leader.look()
    apply(POLICY.replace("endsWith", "endWith"))
    await leader.look()
    golden("cluster/policy-invalid.txt", seen(plane, "admissionpolicy", "no-latest"))
    (standing,) = leader.state.installed.policies
    assert standing.in_force
    assert "endsWith" in standing.in_force.policy.validations[0].expression.text

    restarted = Leader(leader.client, ())
    await restarted.look()
    (standing,) = restarted.state.installed.policies
    assert standing.in_force
    assert "endsWith" in standing.in_force.policy.validations[0].expression.text

    apply(POLICY)
    await leader.look()
    golden("cluster/policy-ready.txt", seen(plane, "admissionpolicy", "no-latest"))


async def test_a_policy_stands_in_for_one_from_files_until_it_is_deleted(
    leader: Leader, plane: ControlPlane, apply: Callable[[str], None]
) -> None:
    text = POLICY.replace("Images have a version", "from files").encode()
    leader.files = compiled.compile_files([PolicyFile("p.yaml", text, strict=True, root="p.yaml")]).policies
    apply(POLICY)
    await leader.look()
    assert "Replaces" in plane.kubectl("get", "admissionpolicy", "no-latest", "-o", "wide")
    assert [one.policy.title for one in leader.state.installed.over(leader.files)] == ["Images have a version"]
    plane.kubectl("delete", "admissionpolicy", "no-latest")
    await leader.look()
    assert [one.policy.title for one in leader.state.installed.over(leader.files)] == ["from files"]


async def test_an_exception_tells_whom_it_is_for_and_expires_without_a_restart(
    leader: Leader, plane: ControlPlane, apply: Callable[[str], None], golden: Callable[[str, str], None]
) -> None:
    apply(POLICY)
    apply(
        EXCEPTION.replace("[{name: no-latest, rules: [tag]}]", "[{name: no-latest, rules: [tag]}, {name: 'image-*'}]")
    )
    await leader.look()
    golden("cluster/exception-active.txt", seen(plane, "policyexception", "log-image"))
    end = datetime(2099, 12, 31, tzinfo=UTC)
    assert await leader.look(end - timedelta(seconds=3), read=False) == 3
    await leader.look(end, read=False)
    golden("cluster/exception-expired.txt", seen(plane, "policyexception", "log-image"))


async def test_an_exception_that_names_no_policy_says_so_until_there_is_one(
    leader: Leader, plane: ControlPlane, apply: Callable[[str], None], golden: Callable[[str, str], None]
) -> None:
    apply(POLICY)
    apply(EXCEPTION.replace("name: no-latest,", "name: no-lates,"))
    await leader.look()
    golden("cluster/exception-of-nothing.txt", seen(plane, "policyexception", "log-image"))
    apply(POLICY.replace("name: no-latest", "name: no-lates"))
    await leader.look()
    plane.kubectl("delete", "admissionpolicy", "no-lates")
    assert "True" in plane.kubectl("get", "policyexception", "log-image")


async def test_what_only_the_reader_finds_is_in_the_status_of_an_exception(
    leader: Leader, plane: ControlPlane, apply: Callable[[str], None], golden: Callable[[str, str], None]
) -> None:
    apply(EXCEPTION.replace("names: [web]", "names: ['we b']").replace("owner: platform team", "owner: ' '"))
    await leader.look()
    golden("cluster/exception-invalid.txt", seen(plane, "policyexception", "log-image"))


async def test_a_status_is_written_once(leader: Leader, plane: ControlPlane, apply: Callable[[str], None]) -> None:
    def version() -> str:
        return plane.kubectl("get", "admissionpolicy", "no-latest", "-o", "jsonpath={.metadata.resourceVersion}")

    apply(POLICY)
    await leader.look()
    written = version()
    await leader.writer.write(leader.state, datetime(2030, 1, 1, tzinfo=UTC))  # the watch has not told of it yet
    await leader.look(datetime(2030, 1, 1, tzinfo=UTC))
    await Leader(leader.client, ()).look(datetime(2030, 1, 1, tzinfo=UTC))
    assert version() == written


async def test_a_status_that_somebody_takes_away_comes_back(
    leader: Leader, plane: ControlPlane, apply: Callable[[str], None]
) -> None:
    apply(POLICY)
    await leader.look()
    plane.kubectl("patch", "cgp", "no-latest", "--subresource=status", "--type=merge", "-p", '{"status": null}')
    await leader.look(read=False)
    assert "InForce" in plane.kubectl("get", "cgp", "no-latest", "-o", "wide")


async def test_an_object_that_has_changed_meanwhile_is_left_alone(
    leader: Leader, plane: ControlPlane, apply: Callable[[str], None]
) -> None:
    apply(POLICY)
    found = (await leader.client.get(ADMISSION_POLICIES.path()))["items"]
    state = State(leader.installation.load(found, []), (), tuple(found))
    plane.kubectl("delete", "admissionpolicy", "no-latest")
    await leader.writer.write(state, datetime.now(UTC))
    apply(POLICY)
    await leader.writer.write(state, datetime.now(UTC))
    assert not leader.failures
    assert "status" not in json.loads(plane.kubectl("get", "admissionpolicy", "no-latest", "-o", "json"))


async def test_an_api_server_that_does_not_answer_is_asked_again(plane: ControlPlane, tmp_path: Path) -> None:
    elsewhere = tmp_path / "kubeconfig"
    elsewhere.write_text(plane.kubeconfig.read_text().replace(plane.url, "https://127.0.0.1:1"))
    obj = {"metadata": {"name": "no-latest", "uid": "1", "resourceVersion": "1", "generation": 1}, "spec": {}}
    state = State(Installation().load([obj], []), (), (obj,))
    failures: list[ApiError] = []
    async with await Client.connect(Access(elsewhere)) as client:
        assert await StatusWriter(client, failures.append).write(state, datetime.now(UTC)) == 10
    assert len(failures) == 1


async def test_it_is_written_when_something_changes(
    leader: Leader, plane: ControlPlane, apply: Callable[[str], None], until: Callable[[Callable[[], Any]], Any]
) -> None:
    def ready() -> str:
        return plane.kubectl("get", "admissionpolicy", "no-latest", "-o", "jsonpath={.status.conditions[*].status}")

    apply(POLICY)
    state, changed = State(Installed(), (), ()), asyncio.Event()
    running = asyncio.create_task(leader.writer.run(lambda: state, changed))
    await asyncio.sleep(0.1)
    assert ready() == ""
    found = (await leader.client.get(ADMISSION_POLICIES.path()))["items"]
    state = State(leader.installation.load(found, []), (), tuple(found))
    changed.set()
    await until(lambda: ready() == "True")
    running.cancel()
