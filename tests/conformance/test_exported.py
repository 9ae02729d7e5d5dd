"""The bundled policies as native ones: a real API server takes them, and decides by itself what our engine decides."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.native import Answer, ApiServer, linked, namespaces, question
from tests.controlplane.plane import ControlPlane
from webhook.engine.pipeline import review
from webhook.engine.policyset import PolicySet
from webhook.model.decision import Decision, Outcome
from webhook.model.request import GroupVersionKind, Object
from webhook.model.suite import Case
from webhook.runs.export.policy import export
from webhook.sources import catalog, compiled, suites
from webhook.sources.bundled import bundled

POLICIES = Path(__file__).parents[2] / "policies"
SUITES = sorted(POLICIES.glob("*/*/tests.yaml"))


class Judges:
    """The API server with all exported policies, and our engine with the same."""

    def __init__(self, server: ApiServer, documents: list[Object], before: dict[str, Answer]) -> None:
        self.server = server
        self.policies: PolicySet = linked(documents)
        self.before = before


@pytest.fixture(scope="module")
def judges(control_plane: ControlPlane) -> Iterator[Judges]:
    """Everything that is exported, in force; each object has been answered for without, to know its defaults."""
    release = catalog.newest()
    exported = [export(one, release) for one in PolicySet.link(compiled.load([bundled()]).policies).policies]
    documents = [obj for one in exported for obj in one.objects]
    with closing(ApiServer(control_plane)) as server, namespaces(server):
        before = {key(file, case): sent(server, case) for file in SUITES for case in askable(file)}
        with server.enforcing(documents):
            yield Judges(server, documents, before)


@pytest.mark.parametrize("file", SUITES, ids=lambda file: file.parent.name)
def test_the_api_server_decides_by_itself_what_our_engine_decides(file: Path, judges: Judges) -> None:
    for case in askable(file):
        before = judges.before[key(file, case)]
        if before.allowed and case.object is not None:
            theirs = sent(judges.server, case)
            seen = {**before.body, "metadata": {**before.body["metadata"], **case.object["metadata"]}}
            ours = review(judges.policies, *question(seen, namespace(case), plurals=judges.server.plurals))
            assert theirs.allowed == ours.allowed, (case.name, theirs.message, ours.findings)
            assert_said(case, theirs, ours)


def assert_said(case: Case, theirs: Answer, ours: Decision) -> None:
    """The one denial that a client is told of is one of ours; warnings are the same."""
    denials = {told(finding, "denied request") for finding in ours.findings if finding.outcome is Outcome.DENY}
    if not theirs.allowed:
        assert any(denial in theirs.message for denial in denials), (case.name, theirs.message, denials)
        return
    warnings = {told(finding, "") for finding in ours.findings if finding.outcome is Outcome.WARN}
    given = {warning for warning in theirs.warnings if warning.startswith("Validation failed")}
    assert {warning.removeprefix("Validation failed for ") for warning in given} == warnings, case.name


def told(finding: Any, verb: str) -> str:
    policy = finding.policy
    verb = f" {verb}" if verb else ""
    return f"ValidatingAdmissionPolicy '{policy.name}' with binding '{policy.binding}'{verb}: {finding.message}"


def key(file: Path, case: Case) -> str:
    return f"{file}: {case.name}"


def askable(file: Path) -> list[Case]:
    """Give the cases that create an object, as the administrator and on the newest release."""
    newest = catalog.newest().version
    cases = [case for suite in suites.load([file]).suites for case in suite.cases]
    return [
        case
        for case in cases
        if case.object is not None
        and isinstance(case.object.get("metadata"), dict)
        and case.old_object is None
        and case.operation in ("", "CREATE")
        and not (case.subresource or case.user or case.time or case.namespace_labels)
        and case.release in (None, newest)
    ]


def namespace(case: Case) -> str:
    assert case.object is not None
    return str(case.object["metadata"].get("namespace") or "default")


def sent(server: ApiServer, case: Case) -> Answer:
    """Ask for the object of a case in its namespace, which is made, with what pods need of one."""
    assert case.object is not None
    obj = case.object
    place = namespace(case) if server.plurals.namespaced(GroupVersionKind.of(obj)) else ""
    if place:
        server.ask("POST", "/api/v1/namespaces", {"metadata": {"name": place}})
        server.ask("POST", f"/api/v1/namespaces/{place}/serviceaccounts", {"metadata": {"name": "default"}})
        obj = {**obj, "metadata": {**obj["metadata"], "namespace": place}}
    return server.create(obj, place)
