"""An audit that was interrupted is taken up: what it says then is what one whole run says."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.relay import Relay
from tests.controlplane.plane import ControlPlane
from webhook.cli import main
from webhook.cluster.client import Client, Page
from webhook.cluster.pager import Pager
from webhook.cluster.rate import Rate
from webhook.cluster.resources import CONFIG_MAPS, SECRETS
from webhook.engine.policyset import PolicySet
from webhook.runs.audit.extent import Extent
from webhook.runs.audit.state import State
from webhook.runs.audit.targets import Target
from webhook.runs.audit.walk import Coverage, walk

Object = dict[str, Any]
Answer = tuple[int, str, str]
"""The exit code, what is printed, and what is said on stderr."""

PLACES = ("state-a", "state-b")
MAPS = [CONFIG_MAPS.path(at) for at in PLACES]
SECRETS_LIST = SECRETS.path("state-a")
RED = "cmVk"
POLICY = """
apiVersion: cozyguard.io/v1alpha1
kind: AdmissionPolicy
metadata: {name: colour}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], resources: [configmaps, secrets], operations: [CREATE]}
    objectSelector: {matchLabels: {state: "yes"}}
  validations:
  - name: not-red
    expression: "!(object.?data.colour.orValue('') in ['red', 'cmVk'])"
    message: red is for alarms
    field: data.colour
---
apiVersion: cozyguard.io/v1alpha1
kind: AdmissionPolicy
metadata: {name: not-pale}
spec:
  releases: ">=1.7"
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}
    objectSelector: {matchLabels: {state: "yes"}}
  validations:
  - {name: colourful, expression: "object.?data.colour.orValue('') != 'pale'", message: too pale, field: data.colour}
"""


def planted(kind: str, namespace: str, name: str, colour: str) -> Object:
    metadata = {"name": name, "namespace": namespace, "labels": {"state": "yes"}}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, "data": {"colour": colour}}


@pytest.fixture(scope="module")
def cluster(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """Two namespaces with sixty ConfigMaps each, of which one is red and one pale, and a red Secret."""
    objects = [planted("ConfigMap", at, f"c{index:02}", "green") for at in PLACES for index in range(58)]
    objects += [planted("ConfigMap", at, colour, colour) for at in PLACES for colour in ("red", "pale")]
    objects.append(planted("Secret", "state-a", "red", RED))
    file = tmp_path_factory.mktemp("planted") / "objects.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    for at in PLACES:
        control_plane.kubectl("create", "namespace", at)
    control_plane.kubectl("create", "-f", str(file))
    yield control_plane
    control_plane.kubectl("delete", "-f", str(file), "--wait=false", "--ignore-not-found")
    control_plane.kubectl("delete", "namespace", *PLACES, "--wait=false")


class Lists:
    """The lists that are asked for; where one is asked for that is named in `end`, the process gets a signal."""

    def __init__(self, ask: Callable[..., Any]) -> None:
        self.asked: list[str] = []
        self.end: tuple[str, bool] | None = None
        self._ask = ask

    async def page(self, client: Client, path: str, *, limit: int, token: str = "", **query: str) -> Page:
        self.asked.append(f"{path}?{query.get('fieldSelector', '')}")
        if self.end == (path, bool(token)):
            self.end = None
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.sleep(60)
        page: Page = await self._ask(client, path, limit=limit, token=token, **query)
        return page


@pytest.fixture
def lists(monkeypatch: pytest.MonkeyPatch) -> Lists:
    made = Lists(Client.page)

    async def page(self: Client, path: str, **query: Any) -> Page:
        return await made.page(self, path, **query)

    monkeypatch.setattr(Client, "page", page)
    return made


class Audit:
    """The command, one request at a time, with a state."""

    def __init__(self, plane: ControlPlane, folder: Path, lists: Lists, capsys: pytest.CaptureFixture[str]) -> None:
        self.state, self.policies = folder / "audit.state", folder / "policy.yaml"
        self.policies.write_text(POLICY)
        self._lists, self._capsys = lists, capsys
        self._usual = ["audit", "--kubeconfig", str(plane.kubeconfig), "--policies", str(self.policies)]
        self._usual += ["--parallel=1", "--qps=1000", *(f"--namespace={at}" for at in PLACES)]

    def __call__(self, *flags: str) -> Answer:
        self._lists.asked.clear()
        self._capsys.readouterr()
        code = main([*self._usual, *(flags or ("-o", "json", "--release=1.6"))])
        return code, *self._capsys.readouterr()

    def kept(self, *flags: str) -> Answer:
        return self(*(flags or ("-o", "json", "--release=1.6")), f"--state={self.state}")

    def interrupted(self, at: str, *flags: str, second: bool = False) -> Answer:
        """Run it up to where a list is asked for, or its second page."""
        self._lists.end = (at, second)
        answer = self.kept(*flags)
        assert answer[0] == 130, answer[2]
        return answer

    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.state.read_text().splitlines()]


@pytest.fixture
def audit(cluster: ControlPlane, tmp_path: Path, lists: Lists, capsys: pytest.CaptureFixture[str]) -> Audit:
    return Audit(cluster, tmp_path, lists, capsys)


@pytest.mark.parametrize(
    "flags",
    [
        ["-o", "json", "--release=1.6"],
        ["-o", "html", "--release=1.6"],
        ["-o", "policyreport", "--release=1.6"],
        ["-o", "text", "--from=1.6", "--to=1.7"],
    ],
    ids=lambda flags: flags[1],
)
def test_what_is_taken_up_says_what_a_whole_run_says(audit: Audit, flags: list[str]) -> None:
    audit.interrupted(MAPS[1], *flags, second=True)
    assert same(audit.kept(*flags)) == same(audit(*flags))


def same(answer: Answer) -> tuple[int, str]:
    """Leave out how long it took, and when it was."""
    return answer[0], re.sub(r"\d+\.\d\d s|\"seconds\": \d+", "", answer[1])


def test_what_is_finished_is_not_listed_again(audit: Audit, lists: Lists) -> None:
    audit.interrupted(MAPS[1], second=True)
    assert [one.get("path") for one in audit.lines()] == [None, MAPS[0]]
    assert audit.lines()[1] == {"path": MAPS[0], "silent": 59, "told": [["state-a", "red"]]}
    code, _, words = audit.kept()
    assert code == 1
    assert [one for one in lists.asked if one.startswith(MAPS[0])] == [f"{MAPS[0]}?metadata.name=red"]
    assert lists.asked.count(f"{MAPS[1]}?") == 2
    assert "audit.state: note: goes on with the run that began at 20" in words


def test_a_file_is_there_until_all_is_done_and_for_its_user_alone(audit: Audit) -> None:
    _, _, words = audit.interrupted(MAPS[0])
    assert "audit.state: note: is kept: the same command goes on with what is left" in words
    assert stat.S_IMODE(audit.state.stat().st_mode) == 0o600
    assert audit.kept()[0] == 1
    assert not audit.state.exists()


def test_it_can_be_interrupted_again_and_again(audit: Audit) -> None:
    for at in (MAPS[0], MAPS[1], SECRETS_LIST):
        audit.interrupted(at)
    assert [one.get("path") for one in audit.lines()] == [None, *MAPS]
    assert same(audit.kept()) == same(audit())


def test_what_has_changed_since_is_judged_as_it_is_and_what_is_gone_is_dropped(
    audit: Audit, cluster: ControlPlane, tmp_path: Path
) -> None:
    audit.interrupted(SECRETS_LIST)
    cluster.kubectl("delete", "configmap", "red", "--namespace=state-a")
    patch = ["patch", "configmap", "red", "--namespace=state-b", "--type=merge"]
    cluster.kubectl(*patch, '--patch={"data":{"colour":"green"}}')
    code, out, _ = audit.kept()
    assert (code, out) == audit()[:2]
    assert [one["resource"]["kind"] for one in json.loads(out)["results"]] == ["Secret"]
    again = tmp_path / "again.json"
    again.write_text(json.dumps(planted("ConfigMap", "state-a", "red", "red")))
    cluster.kubectl("create", "-f", str(again))
    cluster.kubectl(*patch, '--patch={"data":{"colour":"red"}}')


def test_no_value_of_a_secret_is_in_the_file(audit: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webhook.runs.audit.state._WORTH", 1)
    audit.interrupted(SECRETS.path("state-b"))
    assert audit.lines()[-1] == {"path": SECRETS_LIST, "silent": 0, "told": [["state-a", "red"]]}
    assert RED not in audit.state.read_text()


def test_a_line_that_is_cut_off_is_done_again(audit: Audit, lists: Lists) -> None:
    audit.interrupted(SECRETS_LIST)
    audit.state.write_bytes(audit.state.read_bytes()[:-9])
    audit.interrupted(SECRETS_LIST)
    assert lists.asked.count(f"{MAPS[1]}?") == 2
    assert [one.get("path") for one in audit.lines()] == [None, *MAPS]
    assert same(audit.kept()) == same(audit())


def test_a_share_is_taken_up_by_itself(audit: Audit, lists: Lists) -> None:
    usual = ("-o", "json", "--release=1.6")
    whole = [same(audit(*usual, f"--shard={index}/2")) for index in range(2)]
    for index, of_share in enumerate(whole):
        share = (*usual, f"--shard={index}/2")
        audit(*share)
        first = next(one for one in lists.asked if "/state-" in one).rstrip("?")
        audit.interrupted(first, *share)
        assert audit.kept(*usual, f"--shard={1 - index}/2")[0] == 2
        assert same(audit.kept(*share)) == of_share


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--release=1.7"], "another release"),
        (["--release=1.6", "--kind=ConfigMap"], "other kinds, other namespaces or another share"),
        (["--release=1.6", "--policy=colour"], "other policies, modes or exceptions"),
    ],
)
def test_another_audit_is_refused(audit: Audit, flags: list[str], words: str) -> None:
    audit.interrupted(MAPS[1])
    before = audit.state.read_bytes()
    code, out, said = audit.kept(*flags)
    assert (code, out) == (2, "")
    assert f"audit.state` is of an audit of {words}: name another file, or delete it to begin anew" in said
    assert audit.state.read_bytes() == before


def test_another_cluster_and_a_changed_policy_are_refused_together(audit: Audit) -> None:
    audit.interrupted(MAPS[1])
    audit.policies.write_text(POLICY.replace("cmVk", "cmVl"))
    belongs, *lines = audit.lines()
    belongs["audit"]["cluster"] = "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d"
    audit.state.write_text("".join(json.dumps(one) + "\n" for one in (belongs, *lines)))
    assert "is of an audit of another cluster; other policies, modes or exceptions: " in audit.kept()[2]


async def test_a_cluster_that_was_gone_is_taken_up(
    relay: Relay, client: Client, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webhook.cluster.pager._TRIES", 1)
    for number in range(60):
        await client.create(CONFIG_MAPS.path(namespace), {"metadata": {"name": f"map-{number:02}"}})
    await client.create(SECRETS.path(namespace), {"metadata": {"name": "secret"}})
    seen: list[str] = []

    async def walked(through: Client, cut: bool) -> tuple[Coverage, State]:
        async def take(target: Target, objects: Sequence[Object]) -> Sequence[Object]:
            seen.extend(one["metadata"]["name"] for one in objects)
            if cut and target.resource == SECRETS:
                await relay.cut()
            return [one for one in objects if one["metadata"]["name"] == "map-33"]

        state = State.open(
            tmp_path / "state", dict.fromkeys(("version", "cluster", "policies", "releases", "extent"), "")
        )
        targets = [Target(one, PolicySet.link(())) for one in (SECRETS, CONFIG_MAPS)]
        return await walk(targets, Extent((namespace,)), Pager(through, Rate(1000)), 1, take, state), state

    async with await Client.connect(relay.access()) as through:
        coverage, _ = await walked(through, cut=True)
    assert (coverage.unreachable, seen) == (True, ["secret"])
    coverage, state = await walked(client, cut=False)
    assert (coverage.unreachable, coverage.silent_before, seen[1:]) == (False, 1, [f"map-{n:02}" for n in range(60)])
    seen.clear()
    coverage, _ = await walked(client, cut=False)
    assert (coverage.silent_before, seen) == (60, ["map-33"])
    assert not list(state.end(whole=True))
