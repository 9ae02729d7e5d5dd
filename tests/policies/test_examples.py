"""The sample reviews show what their names promise: `make run` sends them to the server."""

from __future__ import annotations

from pathlib import Path

import pytest

from webhook.admission import codec
from webhook.engine.compile import compile_policy
from webhook.engine.context import Context
from webhook.engine.pipeline import review
from webhook.engine.policyset import PolicySet
from webhook.model.decision import Decision
from webhook.model.path import render
from webhook.sources import catalog, policies
from webhook.sources.objects import ObjectStore

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def bundled() -> PolicySet:
    loaded = policies.load([ROOT / "policies"])
    assert not loaded.errors
    return PolicySet.link(map(compile_policy, loaded.policies))


def _decide(bundled: PolicySet, name: str, *, mutating: bool) -> Decision:
    request = codec.decode((ROOT / "examples" / "reviews" / f"{name}.json").read_bytes())
    context = Context(release=catalog.newest(), cluster=ObjectStore((), closed_world=True))
    return review(bundled, request, context, mutate=mutating, validate=not mutating)


def test_the_denial_names_the_variant_that_is_meant(bundled: PolicySet) -> None:
    decision = _decide(bundled, "deny", mutating=False)
    assert not decision.allowed
    assert [(render(finding.field), finding.suggestion) for finding in decision.findings] == [
        ("spec.variant", "container")
    ]


def test_the_patch_sets_what_single_sxm_cards_need(bundled: PolicySet) -> None:
    decision = _decide(bundled, "patch", mutating=True)
    assert decision.allowed
    assert sorted((operation["path"], str(operation["value"])) for operation in decision.patch) == [
        ("/spec/values/gpu-operator/driver/kernelModuleConfig", "{'name': 'nvidia-kernel-module-params'}"),
        ("/spec/values/kernelModuleConfig", "{'create': True}"),
    ]
    assert [change.message for change in decision.changes] != [""]


def test_the_allowed_package_is_judged_and_nothing_is_said(bundled: PolicySet) -> None:
    assert not _decide(bundled, "allow", mutating=False).findings
    assert _decide(bundled, "allow", mutating=False).evaluated
