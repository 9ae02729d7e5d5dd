"""Objects that nobody thought of: a real API server and our engine decide alike about them, with the same policies.

`make conformance` asks for many more of them; what they disagree about is shrunk to the least that shows it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from copy import deepcopy
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st

from tests.conformance.exported import SUITES, askable, assert_alike, documents, namespace, placed
from tests.conformance.native import Answer, ApiServer, linked, namespaces, question
from tests.controlplane.plane import ControlPlane
from webhook.engine.pipeline import review
from webhook.engine.policyset import PolicySet
from webhook.model.request import Object
from webhook.model.suite import Case

CASES: Final = int(os.environ.get("COZYGUARD_CONFORMANCE_CASES", "200"))
LABEL: Final = "conformance"
"""Only objects with this label, and the value `on`, are for the API server's own policies."""

GONE: Final = object()
VALUES: Final[tuple[Any, ...]] = (GONE, None, {}, [], ["x"], [{}], "", "x", "true", 0, 7, 1.5, True)
"""What stands in place of a field."""

OBJECTS: Final[list[Case]] = [case for file in SUITES for case in askable(file)]


class Server:
    """The API server with all exported policies in force for labelled objects, and our engine with the same."""

    def __init__(self, server: ApiServer, policies: list[Object]) -> None:
        self.server = server
        self.policies: PolicySet = linked(policies)

    def asked(self, case: Case, *, on: bool) -> tuple[Object, Answer]:
        """Give the object as it is sent, and the answer."""
        assert case.object is not None
        obj = deepcopy(case.object)
        obj["metadata"]["labels"] = {**(obj["metadata"].get("labels") or {}), LABEL: "on" if on else "off"}
        sent, place = placed(self.server, obj)
        return obj, self.server.create(sent, place)


@pytest.fixture(scope="module")
def server(control_plane: ControlPlane) -> Iterator[Server]:
    """Everything that is exported, in force where an object asks for it by its label."""
    selector = {"matchResources": {"objectSelector": {"matchLabels": {LABEL: "on"}}}}
    policies = [
        {**one, "spec": {**one["spec"], **selector}} if one["kind"].endswith("Binding") else one for one in documents()
    ]
    with closing(ApiServer(control_plane)) as made, namespaces(made), made.enforcing(policies):
        yield Server(made, policies)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Give the path of everything below a value."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*path, key)
        yield from places(inner, (*path, key))


def put(obj: Object, path: tuple[Any, ...], value: Any) -> None:
    *above, last = path
    for step in above:
        obj = obj[step]
    if value is GONE:
        del obj[last]
    else:
        obj[last] = deepcopy(value)


@settings(
    max_examples=CASES,
    deadline=None,
    derandomize=CASES <= 1000,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much, HealthCheck.too_slow],
)
@given(data=st.data(), case=st.sampled_from(OBJECTS))
def test_both_decide_alike_about_objects_with_fields_changed(data: st.DataObject, case: Case, server: Server) -> None:
    obj = deepcopy(case.object)
    assert obj is not None
    for _ in range(data.draw(st.integers(0, 3))):
        found = [path for path in places(obj) if path[0] not in ("apiVersion", "kind", "metadata")]
        assume(found)
        put(obj, data.draw(st.sampled_from(found)), data.draw(st.sampled_from(VALUES)))
    note(repr(obj))
    torn = Case(case.name, obj, case.expect, case.location)
    _, before = server.asked(torn, on=False)
    assume(before.allowed)
    sent, theirs = server.asked(torn, on=True)
    seen = {**before.body, "metadata": {**before.body["metadata"], **sent["metadata"]}}
    ours = review(server.policies, *question(seen, namespace(case), plurals=server.server.plurals))
    assert_alike(torn, theirs, ours)
