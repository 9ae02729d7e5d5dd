"""What an audit keeps."""

from __future__ import annotations

from webhook.model.decision import Finding, Outcome
from webhook.model.policy import MatchResources, Policy
from webhook.model.result import Checked, Resource, Result, Source
from webhook.runs.audit.findings import Kept, Unchecked

POLICY = Policy("p", MatchResources())


def checked(name: str, *outcomes: Outcome) -> Checked:
    resource = Resource("v1", "Pod", "a", name)
    found = (Result(Finding(outcome, POLICY, "rule", "no"), resource, Source("")) for outcome in outcomes)
    return Checked(resource, tuple(found))


def test_objects_come_in_the_order_of_their_names() -> None:
    kept: Kept[Checked] = Kept(10)
    for name in ("c", "a", "b"):
        kept.add(checked(name, Outcome.DENY), 1)
    assert [one.resource.name for one in kept] == ["a", "b", "c"]


def test_what_has_nothing_to_say_is_forgotten_and_what_is_too_much_counted() -> None:
    kept: Kept[Checked] = Kept(2)
    for name, findings in (("a", 0), ("b", 2), ("c", 1), ("d", 3)):
        kept.add(checked(name), findings)
    assert [one.resource.name for one in kept] == ["b"]
    assert kept.left_out == 4


def test_a_rule_that_was_not_checked_is_told_of_its_first_object() -> None:
    unchecked = Unchecked()
    for name in ("b", "a", "c"):
        left = unchecked.take_from(checked(name, Outcome.SKIP, Outcome.DENY))
        assert [one.finding.outcome for one in left.results] == [Outcome.DENY]
    (told,) = unchecked
    assert told.resource.name == "a"
    assert told.results[0].finding.message == "no; nor for 2 other objects"
