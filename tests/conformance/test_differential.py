"""A real API server and our engine judge the same requests with the same policies, and are of one mind.

The policies are the bundled ones as they are exported, and a hand-made one for each corner. The requests are those of
the bundled policies' own tests, and many that nobody thought of; what both disagree about is shrunk to the least that
shows it. `make conformance` asks for very many, for two minors of Kubernetes. What differs, and why, is in
docs/compatibility.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.conformance.exported import SUITES, askable, documents
from tests.conformance.judges import Judges, Trial
from tests.conformance.trials import arena, trials
from tests.controlplane.plane import ControlPlane
from tests.controlplane.versions import DEFAULT
from webhook.model.request import CREATE

CASES: Final = int(os.environ.get("COZYGUARD_CONFORMANCE_CASES", "250"))


GUARDED: Final = [
    file
    for file in SUITES
    if any(one["metadata"]["name"].startswith(f"{file.parent.name}-") for one in documents(DEFAULT))
]
"""The tests of policies that are exported with what they look up as a param."""


@pytest.fixture(scope="module")
def judges(control_plane: ControlPlane) -> Iterator[Judges]:
    with arena(control_plane) as made:
        yield made


@pytest.mark.parametrize("file", SUITES, ids=lambda file: file.parent.name)
def test_both_decide_alike_about_the_objects_of_the_bundled_policies_own_tests(file: Path, judges: Judges) -> None:
    for case in askable(file):
        assert case.object is not None
        trial = Trial(CREATE, case.object)
        found = judges.judge(trial)
        assert not found, "\n".join([case.name, str(trial), *found])


@pytest.mark.parametrize("file", GUARDED, ids=lambda file: file.parent.name)
def test_both_find_what_is_looked_up_as_a_param(file: Path, judges: Judges) -> None:
    for case in askable(file):
        assert case.object is not None
        for place in {one["metadata"].get("namespace") for one in case.lookups} - {None}:
            judges.make({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": place}})
        trial = Trial(CREATE, case.object)
        with judges.having(case.lookups):
            if judges.judge(trial) is not None:
                judges.settle([trial])


@settings(
    max_examples=CASES,
    deadline=None,
    derandomize=CASES <= 1000,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much, HealthCheck.too_slow],
)
@given(data=st.data())
def test_both_decide_alike_about_requests_that_nobody_thought_of(data: st.DataObject, judges: Judges) -> None:
    trial = data.draw(trials(judges.schemas, judges.minor))
    found = judges.judge(trial)
    assume(found is not None)
    assert not found, "\n".join([str(trial), *found])
