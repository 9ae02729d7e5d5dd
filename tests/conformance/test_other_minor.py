"""What `test_differential.py` asks, of another minor of Kubernetes, as far as its programs are at hand already."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.conformance.judges import Judges
from tests.conformance.trials import arena, trials
from tests.controlplane.binaries import find, is_cached
from tests.controlplane.plane import ControlPlane
from tests.controlplane.versions import DEFAULT, VARIABLE

OTHER: Final = "1.34"


@pytest.fixture(scope="module")
def judges() -> Iterator[Judges]:
    if os.environ.get(VARIABLE, DEFAULT) == OTHER or not is_cached(OTHER):
        pytest.skip(f"no second minor: {VARIABLE}={OTHER} builds its programs, which takes minutes")
    with ControlPlane(find(OTHER)) as plane, arena(plane) as made:
        yield made


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much, HealthCheck.too_slow],
)
@given(data=st.data())
def test_another_minor_decides_alike_too(data: st.DataObject, judges: Judges) -> None:
    trial = data.draw(trials(judges.schemas, judges.minor))
    found = judges.judge(trial)
    assume(found is not None)
    assert not found, "\n".join([str(trial), *found])
