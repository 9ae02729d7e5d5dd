"""Every mechanical fix of the bundled policies, as their own tests bring it up: it can be written, and it helps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from webhook.cel.errors import CelError
from webhook.engine.patch import apply
from webhook.engine.policyset import PolicySet
from webhook.model.decision import Finding, Outcome
from webhook.model.fragment import block
from webhook.model.request import Object
from webhook.model.suite import Case
from webhook.runs.mending import mended
from webhook.runs.suite import decide
from webhook.sources import compiled, suites
from webhook.sources.bundled import bundled
from webhook.sources.manifests import Manifest, manifests
from webhook.sources.yaml import Source
from webhook.sources.yaml.page import Refused


def fixes() -> Iterator[tuple[Case, PolicySet, Finding]]:
    for suite in suites.load([bundled()]).suites:
        policies = PolicySet.link(compiled.load(suite.policies).policies)
        for case in suite.cases:
            if case.object is not None:
                for finding in decide(case, policies).findings:
                    if finding.outcome in (Outcome.DENY, Outcome.WARN) and applies(finding, case.object):
                        yield case, policies, finding


def applies(finding: Finding, obj: Object) -> bool:
    """Is there a place for the fix: a case may have a list where a map belongs."""
    try:
        return bool(finding.fix.patch) and apply(obj, finding.fix.patch) != obj
    except CelError:
        return False


def texts(obj: dict[str, Any]) -> Iterator[Source]:
    yield Source("a.yaml", 0, 1, "\n".join(block(obj)) + "\n")
    yield Source("a.json", 0, 1, json.dumps(obj, indent=2), json=True)


def read(source: Source) -> Manifest:
    [manifest] = [each for each in manifests(source) if isinstance(each, Manifest)]
    return manifest


def is_left(finding: Finding, among: tuple[Finding, ...]) -> bool:
    known = (finding.policy.name, finding.rule, finding.field, finding.message)
    return any((each.policy.name, each.rule, each.field, each.message) == known for each in among)


def test_every_fix_that_a_bundled_policy_offers_can_be_written_and_mends(
    monkeypatch: pytest.MonkeyPatch, cache: Any
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    tried = 0
    for case, policies, finding in fixes():
        for source in texts(case.object or {}):
            try:
                after = read(mended(source, read(source), finding.fix.patch)).object
            except Refused as refused:
                pytest.fail(f"{finding.policy.name}, case `{case.name}`: {refused}")
            left = decide(replace(case, object=after), policies).findings
            assert not is_left(finding, left), f"{finding.policy.name}, case `{case.name}`"
            tried += 1
    assert tried > 300
