from __future__ import annotations

from dataclasses import replace

import pytest

from webhook.errors import DocumentError
from webhook.model.decision import Change, Finding, Outcome
from webhook.model.path import Path
from webhook.model.policy import MatchResources, Policy
from webhook.model.preview import Difference, Previewed, Turn
from webhook.model.result import Checked, Patch, Resource, Result, Silenced, Source
from webhook.runs.preview import compared

POLICY = Policy("a", MatchResources())
RESOURCE = Resource("v1", "ConfigMap", "", "x")
SOURCE = Source("x.yaml")


def result(outcome: Outcome, message: str = "no", field: Path = ("spec",)) -> Result:
    return Result(Finding(outcome, POLICY, "0", message, field=field), RESOURCE, SOURCE)


def turns(before: list[Result], after: list[Result]) -> list[Difference]:
    found = compared(Checked(RESOURCE, tuple(before)), Checked(RESOURCE, tuple(after)))
    assert isinstance(found, Previewed)
    return list(found.differences)


DENIED, WARNED, SKIPPED = result(Outcome.DENY), result(Outcome.WARN), result(Outcome.SKIP)
ERROR, PASSED, AUDITED = result(Outcome.ERROR), result(Outcome.PASS), result(Outcome.AUDIT)
IGNORED = Result(replace(ERROR.finding, ignored=True), RESOURCE, SOURCE)
SILENCED = replace(DENIED, silenced=Silenced("comment", "known"))


@pytest.mark.parametrize(
    ("before", "after", "differences"),
    [
        ([], [DENIED], [Difference(Turn.DENIED, DENIED)]),
        ([WARNED], [DENIED], [Difference(Turn.DENIED, DENIED)]),
        ([SKIPPED], [ERROR], [Difference(Turn.DENIED, ERROR)]),
        ([], [WARNED], [Difference(Turn.WARNED, WARNED)]),
        ([], [SKIPPED], [Difference(Turn.NOT_CHECKED, SKIPPED)]),
        ([DENIED], [], [Difference(Turn.ALLOWED, DENIED)]),
        ([DENIED], [WARNED], [Difference(Turn.ALLOWED, DENIED)]),
        ([DENIED], [SILENCED], [Difference(Turn.ALLOWED, DENIED)]),
        ([DENIED], [DENIED], []),
        ([DENIED], [ERROR], []),
        ([WARNED], [], [Difference(Turn.SETTLED, WARNED)]),
        ([WARNED], [SKIPPED], []),
        ([], [PASSED, AUDITED, SILENCED, IGNORED], []),
    ],
)
def test_only_what_differs_is_told(before: list[Result], after: list[Result], differences: list[Difference]) -> None:
    assert turns(before, after) == differences


def test_other_words_at_the_same_place_are_no_difference() -> None:
    assert turns([result(Outcome.DENY, "not in 1.5")], [result(Outcome.DENY, "not in 1.6")]) == []


def test_another_place_is_a_difference() -> None:
    elsewhere = result(Outcome.DENY, field=("spec", "other"))

    assert turns([DENIED], [elsewhere]) == [Difference(Turn.DENIED, elsewhere), Difference(Turn.ALLOWED, DENIED)]


def test_a_patch_is_new_if_its_operations_are() -> None:
    def patch(value: int) -> Patch:
        return Patch(Change(POLICY, "m", ({"op": "add", "path": "/a", "value": value},)), RESOURCE, SOURCE)

    found = compared(Checked(RESOURCE, patches=(patch(1),)), Checked(RESOURCE, patches=(patch(1), patch(2))))

    assert found == Previewed(RESOURCE, (Difference(Turn.PATCHED, patch(2)),))


def test_what_is_no_object_is_passed_on() -> None:
    fault = DocumentError("x.yaml", message="no")

    assert compared(fault, fault) is fault
