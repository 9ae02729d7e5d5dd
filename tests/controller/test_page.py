"""The ways out that docs/registration.md shows work while no replica answers, as printed."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from tests.controller.harness import PAGE, SECRET, Cluster, documents, policies, until
from tests.controlplane.plane import ControlPlane
from webhook.cluster.faults import ApiError
from webhook.cluster.resources import PACKAGES

Run = Callable[[str], str]

PACKAGE = """
    matchConstraints:
      resourceRules:
      - {apiGroups: [cozystack.io], apiVersions: ["*"], resources: [packages], operations: [CREATE, UPDATE]}
    validations: [{expression: "true"}]
"""


@pytest.fixture
def run(cluster: Cluster, control_plane: ControlPlane, tmp_path: Path) -> Run:
    """Run the command of the page that has these words, for the names of this test."""
    package = {"apiVersion": "cozystack.io/v1alpha1", "kind": "Package", "metadata": {"name": f"a.{cluster.name}"}}
    (tmp_path / "package.yaml").write_text(json.dumps(package))
    shells = [one | {"metadata": {"name": cluster.name}} for one in documents("shells.yaml")]
    (tmp_path / "shells.yaml").write_text(yaml.safe_dump_all(shells))
    kubectl = control_plane.binaries.kubectl
    environment = {"PATH": f"{kubectl.parent}:{os.environ['PATH']}", "KUBECONFIG": str(control_plane.kubeconfig)}

    def command(words: str) -> str:
        text = re.sub(r"(?<=[ =])cozyguard(?=\s|$)", cluster.name, next(line for line in _commands() if words in line))
        done = subprocess.run(
            ["bash", "-c", text], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return command


def _commands() -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


async def test_with_every_replica_down_an_administrator_can_mend_packages_and_switch_it_off(
    cluster: Cluster, run: Run
) -> None:
    name = f"a.{cluster.name}"
    package = {"apiVersion": PACKAGES.api_version, "kind": "Package", "metadata": {"name": name}}
    cluster.in_force = replace(cluster.in_force, policies=policies(PACKAGE))
    cluster.stack.push_async_callback(cluster.client.delete, PACKAGES.path(name=name))
    one = await cluster.start()

    async def apply() -> bool:
        await cluster.client.apply(PACKAGES.path(name=name), package, manager="test", dryRun="All")
        return bool(one.server.asked)

    await until(apply)
    await one.stop()
    await one.server.close()

    async def refused() -> bool:
        try:
            await apply()
        except ApiError as error:
            return "failed calling webhook" in str(error)
        return False

    await until(refused)
    assert "created" in await asyncio.to_thread(run, "--as-group=cozyguard:break-glass")
    deleted = await asyncio.to_thread(run, "kubectl delete validatingwebhookconfiguration")
    assert deleted.count("deleted") == 2

    async def works() -> bool:
        return not await refused()

    await until(works)
    assert (await asyncio.to_thread(run, "-f shells.yaml")).count("created") == 2


async def test_the_other_commands_of_the_page_work(cluster: Cluster, run: Run) -> None:
    one = await cluster.start()
    await until(lambda: one.sample("cozyguard_registration_in_sync", "validate") == 1)
    assert "one" in await asyncio.to_thread(run, "get lease cozyguard-controller")
    assert "cozyguard-replica-one" in await asyncio.to_thread(run, "component=replica")
    before = one.server.leaf
    await asyncio.to_thread(run, f"delete secret {SECRET}")
    await until(lambda: one.server.leaf != before)


def test_every_command_of_the_page_is_run_here() -> None:
    assert len(_commands()) == 6
