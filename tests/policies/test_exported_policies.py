"""What a bundled policy decides about the objects of its own tests, it decides as a native one, too."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from webhook.engine.compile import compile_policy
from webhook.engine.policyset import LinkedPolicy, PolicySet
from webhook.model.decision import Decision
from webhook.model.policy import Policy
from webhook.model.release import Minor, Release
from webhook.model.suite import Case, Expected
from webhook.runs import suite as running
from webhook.runs.export.expressions import Expressions
from webhook.runs.export.policy import export, mutation_fault
from webhook.runs.export.rules import rules_of
from webhook.sources import catalog, policies, suites
from webhook.sources.policy_files import PolicyFile
from webhook.sources.releases import is_package_source

POLICIES = Path(__file__).parents[2] / "policies"
FOLDERS = sorted(file.relative_to(POLICIES).parent for file in POLICIES.glob("*/*/tests.yaml"))


@pytest.mark.parametrize("folder", FOLDERS, ids=str)
def test_a_policy_and_what_it_is_exported_as_decide_alike(folder: Path) -> None:
    for case in cases(folder):
        ours, native = both(folder, case.release or catalog.newest().version, sources(case))
        assert told(running.decide(case, native)) == told(running.decide(case, ours)), case.name


def test_more_than_half_of_the_bundled_policies_can_be_native() -> None:
    exported = [folder for folder in FOLDERS if both(folder, catalog.newest().version, "[]")[1].policies]
    assert len(exported) > len(FOLDERS) / 2


def cases(folder: Path) -> list[Case]:
    found = suites.load([POLICIES / folder / "tests.yaml"]).suites
    return [case for suite in found for case in suite.cases if case.expect.outcome is not Expected.INVALID]


def sources(case: Case) -> str:
    """Give the PackageSources of a case as JSON: what is at hand when a policy is exported counts then, too."""
    return json.dumps(list(filter(is_package_source, case.lookups)))


def told(decision: Decision) -> Any:
    """Say what counts of a decision: findings come once a rule natively, and once an element from us."""
    outcomes = sorted({(finding.outcome.value, finding.ignored) for finding in decision.findings})
    return decision.allowed, outcomes, decision.object, decision.audit_annotations.keys() - {"validation_failure"}


@cache
def both(folder: Path, release: Minor, sources: str) -> tuple[PolicySet, PolicySet]:
    """Give the part of a policy that can be exported, and what it is exported as."""
    (original,) = policies.load([POLICIES / folder / "policy.yaml"]).policies
    (linked,) = PolicySet.link([compile_policy(original)]).policies
    entry = catalog.overlay(catalog.load(release), json.loads(sources))
    exported = export(linked, entry)
    text = "\n---\n".join(map(json.dumps, exported.objects)) or "kind: PolicyTest"
    loaded = policies.read([PolicyFile("native.yaml", text.encode(), strict=False, root="native.yaml")])
    if exported.objects:
        assert not loaded.errors
    ours = exportable(original, linked, entry) if exported.objects else ()
    return PolicySet.link(map(compile_policy, ours)), PolicySet.link(map(compile_policy, loaded.policies))


def exportable(original: Policy, linked: LinkedPolicy, release: Release) -> tuple[Policy, ...]:
    """Leave what can be exported; what is so already counts as anything else, as in Kubernetes."""
    expressions = Expressions(linked, release)
    kept = tuple(rule.validation for rule in rules_of(linked, expressions) if not rule.fault)
    changes = [
        one
        for index, one in enumerate(original.mutations)
        if not mutation_fault(expressions, f"mutation.{index}", one.patch_type)
    ]
    return (replace(original, on_existing_violation=None, validations=kept, mutations=tuple(changes)),)
