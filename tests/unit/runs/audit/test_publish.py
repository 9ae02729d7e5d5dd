"""Which reports say what is so no longer."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from webhook.cluster.resources import NODES, PODS, SECRETS, Resource
from webhook.engine.context import DEFAULT_CONFIGURATION, Context
from webhook.engine.policyset import PolicySet
from webhook.errors import DocumentError
from webhook.model.result import Setup
from webhook.runs.audit.extent import Extent
from webhook.runs.audit.prepare import Asked, Ready
from webhook.runs.audit.publish import staleness
from webhook.runs.audit.targets import Target
from webhook.runs.audit.walk import Coverage
from webhook.runs.selection import Selection
from webhook.sources import catalog
from webhook.sources.objects import ObjectStore

NO_POLICIES = PolicySet.link(())
CONTEXT = Context(catalog.newest(), ObjectStore())
POD, SECRET, NODE, GONE = ("a", "v1", "Pod"), ("a", "v1", "Secret"), ("", "v1", "Node"), ("a", "example.org/v1", "Gone")


def stale(
    complete: Sequence[Resource],
    *,
    namespaces: tuple[str, ...] = (),
    kinds: tuple[str, ...] = (),
    gaps: tuple[DocumentError, ...] = (),
    interrupted: bool = False,
) -> list[tuple[str, str, str]]:
    """Give the reports that would go after an audit of Pods, Secrets and Nodes that completed these."""
    every = tuple(Target(one, NO_POLICIES) for one in (PODS, SECRETS, NODES))
    ready = Ready(Setup("1.6", 0), CONTEXT, every, Extent(namespaces), gaps)
    coverage = Coverage([one for one in every if one.resource in complete], interrupted=interrupted)
    asked = Asked(Selection(), DEFAULT_CONFIGURATION, kinds=kinds, namespaces=namespaces)
    is_stale = staleness(asked, ready, coverage)
    return [about for about in (POD, SECRET, NODE, GONE) if is_stale(*about)]


def test_after_a_whole_audit_everything_goes_that_was_not_put() -> None:
    assert stale([PODS, SECRETS, NODES]) == [POD, SECRET, NODE, GONE]


def test_what_was_not_looked_at_to_the_end_stays() -> None:
    assert stale([PODS]) == [POD, GONE]


def test_other_namespaces_stay() -> None:
    assert stale([PODS, SECRETS, NODES], namespaces=("a",)) == [POD, SECRET, GONE]
    assert stale([PODS, SECRETS, NODES], namespaces=("b",)) == []


@pytest.mark.parametrize(
    ("kinds", "gaps", "interrupted"),
    [(("Pod",), (), False), ((), (DocumentError("apps/v1"),), False), ((), (), True)],
)
def test_kinds_that_no_policy_is_about_go_only_when_all_are_known(
    kinds: tuple[str, ...], gaps: tuple[DocumentError, ...], interrupted: bool
) -> None:
    assert stale([PODS, SECRETS, NODES], kinds=kinds, gaps=gaps, interrupted=interrupted) == [POD, SECRET, NODE]
