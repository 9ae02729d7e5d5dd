"""The policies' own suites pass, those of the benchmark's policies too: their numbers would mean nothing otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from webhook.model.suite import Suite
from webhook.runs.suite import run
from webhook.sources import suites

ROOT = Path(__file__).parents[2]
LOADED = suites.load([ROOT / "policies", ROOT / "benchmarks" / "policies"])


def test_every_suite_loads() -> None:
    assert LOADED.errors == ()


@pytest.mark.parametrize("suite", LOADED.suites, ids=lambda suite: Path(suite.file).parent.name)
def test_every_case_passes(suite: Suite) -> None:
    result = run(suite)
    assert not result.errors
    assert {one.case.name: one.differences for one in result.results if one.differences} == {}
