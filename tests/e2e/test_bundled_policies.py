"""Each bundled policy does on a real API server what its own tests say: the first case of each that an API server
would let through to a webhook.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from tests.e2e.guard import Guard, World
from tests.e2e.kubectl import Kubectl, Object, Shown
from tests.e2e.pasting import command, edited, pasted
from webhook.engine.patch import apply
from webhook.model.suite import Case, Expected
from webhook.sources import catalog, suites

POLICIES = Path(__file__).parents[2] / "policies"


def telling(folder: Path) -> list[Case]:
    """Give the cases in which a policy has something to say that kubectl shows, to a request that kubectl can make."""
    cases = [case for suite in suites.load([folder / "tests.yaml"]).suites for case in suite.cases]
    return [case for case in cases if _shows(case) and not case.subresource and not case.time]


def _shows(case: Case) -> bool:
    expect = case.expect
    return expect.outcome in (Expected.DENY, Expected.WARN) or bool(expect.patch) or expect.patched is not None


def world(case: Case) -> World:
    release = str(case.release or catalog.newest().version)
    if not case.namespace_labels:
        return World(release, case.lookups)
    name = (case.object or case.old_object or {})["metadata"].get("namespace", "default")
    labels = {"kubernetes.io/metadata.name": name, **case.namespace_labels}
    return World(release, (*case.lookups, _namespace(name, labels)))


def _namespace(name: str, labels: dict[str, str]) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def _likeness(folder: Path) -> str:
    """Sort policies whose first cases need one world together: the server need not be started anew between them."""
    worlds = [world(case) for case in telling(folder)[:1]]
    return json.dumps([[each.release, each.objects] for each in worlds], sort_keys=True)


NEVER_SEEN = frozenset({"package-no-top-level-values", "pod-gpu-limits"})
"""Policies about what the API server refuses by itself, before it asks a webhook: they are for files."""

FOLDERS = sorted((file.parent for file in POLICIES.glob("*/*/tests.yaml")), key=_likeness)


@pytest.mark.parametrize(
    "folder", [each for each in FOLDERS if each.name in NEVER_SEEN], ids=lambda folder: folder.name
)
def test_the_api_server_itself_refuses_what_some_policies_are_about(
    folder: Path, kubectl: Kubectl, keep: Callable[[Object], Object]
) -> None:
    named = [case for case in telling(folder) if (case.object or {}).get("metadata", {}).get("name")]
    for case in named:
        assert any(answer.code for answer in _tried(case, kubectl, keep)), case.name


@pytest.mark.parametrize(
    "folder", [each for each in FOLDERS if each.name not in NEVER_SEEN], ids=lambda folder: folder.name
)
def test_a_policy_does_what_its_tests_say(
    folder: Path, registered: Guard, kubectl_anew: Kubectl, keep: Callable[[Object], Object]
) -> None:
    case = _first_that_is_seen(folder, kubectl_anew, keep)
    registered.serve(world(case))
    shown = _send(case, kubectl_anew)
    policy = case.expect.policy or folder.name
    if case.expect.outcome is Expected.DENY:
        assert shown.code == 1
        assert all(told in shown.denial for told in _words(case, policy)), (case.name, shown.text)
    elif case.expect.outcome is Expected.WARN:
        told = [warning for warning in shown.warnings if warning.startswith(f"[{policy}] ")]
        assert any(case.expect.field in warning for warning in told), (case.name, shown.text)
    if shown.code == 0 and _patched(case):
        stored = kubectl_anew.stored(case.object or {})
        assert stored, shown.text
        assert stored["spec"] == (_patched(case) or {})["spec"]
    assert f"[{policy}]" not in _pasted(case, shown, kubectl_anew).denial, shown.text


def _words(case: Case, policy: str) -> Iterator[str]:
    """Say what a denial must hold; a message between slashes is a regular expression, and left to the policy's tests."""
    yield f"[{policy}]"
    yield case.expect.field
    if not case.expect.message.startswith("/"):
        yield case.expect.message


def _patched(case: Case) -> Object | None:
    """Give the object that is to be stored, if the case is about a patch."""
    if case.expect.patch and case.object:
        return apply(case.object, case.expect.patch)
    return case.expect.patched


def _first_that_is_seen(folder: Path, kubectl: Kubectl, keep: Callable[[Object], Object]) -> Case:
    """Try cases until the API server itself has nothing against the objects; the old one is stored then."""
    refused = []
    for case in telling(folder):
        answers = list(_tried(case, kubectl, keep))
        if all(answer.code == 0 for answer in answers):
            return case
        refused += [answer.text for answer in answers if answer.code]
    wanted = "want a case in which it denies, warns or patches, about a kind that tests/controlplane/crds has"
    pytest.fail("\n".join([wanted, *dict.fromkeys(refused)]))


def _tried(case: Case, kubectl: Kubectl, keep: Callable[[Object], Object]) -> Iterator[Shown]:
    """Store the old object, and have the API server look at the new one; no webhook is asked."""
    unseen = kubectl.unseen()
    _make_namespace((case.object or case.old_object or {})["metadata"].get("namespace", "default"), unseen)
    if case.old_object:
        yield unseen("create", "--filename=-", stdin=keep(case.old_object))
    if case.object:
        verb = "replace" if case.old_object else "create"
        yield unseen(verb, "--filename=-", "--dry-run=server", stdin=keep(case.object))


@cache
def _make_namespace(name: str, unseen: Kubectl) -> None:
    unseen("create", "namespace", name)  # it may be there already


def _pasted(case: Case, shown: Shown, kubectl: Kubectl) -> Shown:
    """Do what a denial offers to be pasted; where it offers nothing, nothing is done."""
    if line := command(shown.denial):
        return kubectl.shell(line)
    if case.object and not case.old_object and pasted(shown.denial):
        return _send(replace(case, object=edited(case.object, shown.denial)), kubectl)
    return Shown("", 0)


def _send(case: Case, kubectl: Kubectl) -> Shown:
    """Make the request of a case, as its user."""
    if case.user:
        kubectl = kubectl.acting(case.user.username, *case.user.groups, "system:masters")
    if case.object is None:
        return kubectl("delete", "--filename=-", stdin=case.old_object)
    return kubectl("replace" if case.old_object else "create", "--filename=-", stdin=case.object)
