"""The bundled policies as native ones: a real API server takes them, and decides by itself what our engine decides."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.conformance.exported import SUITES, askable, assert_alike, documents, namespace, placed
from tests.conformance.native import Answer, ApiServer, linked, namespaces, question
from tests.controlplane.plane import ControlPlane
from webhook.engine.pipeline import review
from webhook.engine.policyset import PolicySet
from webhook.model.suite import Case


class Judges:
    """The API server with all exported policies, our engine with the same, and the answers without any."""

    def __init__(self, server: ApiServer, policies: PolicySet, before: dict[str, Answer]) -> None:
        self.server = server
        self.policies = policies
        self.before = before


@pytest.fixture(scope="module")
def judges(control_plane: ControlPlane) -> Iterator[Judges]:
    """Everything that is exported, in force; each object has been answered for without, to know its defaults."""
    exported = documents()
    with closing(ApiServer(control_plane)) as server, namespaces(server):
        before = {key(file, case): sent(server, case) for file in SUITES for case in askable(file)}
        with server.enforcing(exported):
            yield Judges(server, linked(exported), before)


@pytest.mark.parametrize("file", SUITES, ids=lambda file: file.parent.name)
def test_the_api_server_decides_by_itself_what_our_engine_decides(file: Path, judges: Judges) -> None:
    for case in askable(file):
        before = judges.before[key(file, case)]
        if before.allowed and case.object is not None:
            theirs = sent(judges.server, case)
            seen = {**before.body, "metadata": {**before.body["metadata"], **case.object["metadata"]}}
            ours = review(judges.policies, *question(seen, namespace(case), plurals=judges.server.plurals))
            assert_alike(case, theirs, ours)


def key(file: Path, case: Case) -> str:
    return f"{file}: {case.name}"


def sent(server: ApiServer, case: Case) -> Answer:
    """Ask for the object of a case."""
    assert case.object is not None
    return server.create(*placed(server, case.object))
