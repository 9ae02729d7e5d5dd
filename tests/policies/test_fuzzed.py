"""Objects that nobody wrote, on the whole pack: more of them with `cozyguard test policies --fuzz 1000`."""

from __future__ import annotations

from pathlib import Path

from webhook.report.fuzz import lines
from webhook.report.style import Style
from webhook.runs.fuzz.run import fuzz
from webhook.runs.suite import loaded
from webhook.sources import suites

POLICIES = Path(__file__).parents[2] / "policies"
TRIES = 25


def test_every_law_holds_of_every_bundled_policy() -> None:
    results = [fuzz(suite, loaded(suite), TRIES, seed=1) for suite in suites.load([POLICIES]).suites]

    assert sum(one.tried for one in results) >= 70 * TRIES
    assert list(lines(results, Style(False), 0, 1))[:-1] == []
