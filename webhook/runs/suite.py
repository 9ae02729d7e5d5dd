"""Policy tests: each case is one request, decided by the same pipeline as everything else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from webhook.admission.synthesize import Circumstances, synthesize
from webhook.engine.context import Context
from webhook.engine.pipeline import review
from webhook.engine.policyset import PolicySet
from webhook.errors import DocumentError, UsageError
from webhook.model.decision import Decision
from webhook.model.request import CREATE, DELETE, UPDATE, AdmissionRequest, Object
from webhook.model.suite import Case, CaseResult, Difference, Expected, Suite, SuiteResult
from webhook.runs.judge import differences, invalid_differences, says
from webhook.sources import catalog, compiled
from webhook.sources.objects import NAME_LABEL, ObjectStore
from webhook.sources.rbac import RbacAuthorizer
from webhook.sources.releases import is_package_source

_NAMESPACE: Final = "default"
"""Where objects go that name no namespace, as with kubectl."""


@dataclass(frozen=True, slots=True)
class Tested:
    """The policies of a suite: those that load, what is wrong with the others, and which of them do nothing."""

    policies: PolicySet
    errors: tuple[DocumentError, ...]
    notices: tuple[DocumentError, ...] = ()


def choose(suites: Iterable[Suite], pattern: str) -> list[Suite]:
    """Keep the cases whose name has the text, or the `/regular expression/`. Raises UsageError where none has."""
    kept = [replace(one, cases=tuple(case for case in one.cases if says(pattern, case.name))) for one in suites]
    if chosen := [suite for suite in kept if suite.cases]:
        return chosen
    raise UsageError(f"no case has `{pattern}` in its name; write a part of it, or a `/regular expression/`")


def run(suite: Suite) -> SuiteResult:
    """Run all cases of a suite. Errors of policies are the suite's own, unless a case is about them."""
    return judge(suite, loaded(suite))


def loaded(suite: Suite) -> Tested:
    """Load the policies of a suite."""
    found = compiled.load(suite.policies)
    return Tested(PolicySet.link(found.policies), found.errors, found.notices)


def judge(suite: Suite, given: Tested) -> SuiteResult:
    """Run all cases of a suite with policies that are loaded."""
    results = tuple(CaseResult(case, tuple(case_differences(case, given))) for case in suite.cases)
    expected = any(case.expect.outcome is Expected.INVALID for case in suite.cases)
    return SuiteResult(suite, results, () if expected else given.errors)


def case_differences(case: Case, tested: Tested) -> Iterator[Difference]:
    """Run one case: what differs from what it expects."""
    if case.expect.outcome is Expected.INVALID:
        yield from invalid_differences(case, tested.errors)
    elif missing := _not_loaded(case, tested):
        yield missing
    else:
        yield from differences(case, decide(case, tested.policies))


def _not_loaded(case: Case, tested: Tested) -> Difference | None:
    """Say why a case proves nothing: its policy is not there, or one of those that it is about does not load."""
    names = sorted({one.policy.name for one in tested.policies.policies})
    wanted, errors = case.expect.policy, "\n".join(map(str, tested.errors))
    if wanted and wanted not in names:
        told = "\n".join(str(one) for one in tested.notices if f"`{wanted}`" in one.message)
        return Difference("policy", wanted, errors or told or ", ".join(names))
    return Difference("policy", "policies that load", errors) if errors and not wanted else None


def decide(case: Case, policies: PolicySet) -> Decision:
    """Decide about the request of a case."""
    request = request_of(case)
    return review(policies, request, context_of(case, request))


def context_of(case: Case, request: AdmissionRequest) -> Context:
    """Make the world around the request of a case."""
    store = ObjectStore((*case.lookups, *namespace_of(case, request.namespace)), closed_world=True)
    release = catalog.load(case.release) if case.release else catalog.newest()
    sources = filter(is_package_source, case.lookups)
    facts, now = catalog.overlay(release, sources), case.time or datetime.now(UTC)
    return Context(facts, store, now=now, authorizer=RbacAuthorizer(store))


def request_of(case: Case) -> AdmissionRequest:
    """Make the request that a case is about."""
    obj = case.object if case.object is not None else case.old_object or {}
    circumstances = Circumstances(_operation(case), _NAMESPACE, case.subresource, case.user)
    return synthesize(obj, ObjectStore(case.lookups), circumstances, case.old_object)


def _operation(case: Case) -> str:
    if case.operation or case.old_object is None:
        return case.operation or CREATE
    return UPDATE if case.object is not None else DELETE


def namespace_of(case: Case, name: str) -> Iterator[Object]:
    """Make the object's Namespace, where the case gives it labels."""
    if case.namespace_labels:
        labels = {NAME_LABEL: name, **case.namespace_labels}
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
