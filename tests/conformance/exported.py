"""What the bundled policies are exported as, and the requests of their own tests, asked of a real API server."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from tests.conformance.native import Answer, ApiServer
from webhook.engine.policyset import PolicySet
from webhook.model.decision import Decision, Outcome
from webhook.model.request import GroupVersionKind, Object
from webhook.model.suite import Case
from webhook.runs.export.policy import export
from webhook.sources import catalog, compiled, suites
from webhook.sources.bundled import bundled

POLICIES = Path(__file__).parents[2] / "policies"
SUITES = sorted(POLICIES.glob("*/*/tests.yaml"))


def documents() -> list[Object]:
    """Give all that is exported for the newest release."""
    policies = PolicySet.link(compiled.load([bundled()]).policies).policies
    return [obj for one in policies for obj in export(one, catalog.newest()).objects]


def assert_alike(case: Case, theirs: Answer, ours: Decision) -> None:
    """The verdict is one; the denial that a client is told of is one of ours; warnings are the same."""
    assert theirs.allowed == ours.allowed, (case.name, theirs.message, ours.findings)
    denials = {told(finding, "denied request") for finding in ours.findings if finding.outcome is Outcome.DENY}
    if not theirs.allowed:
        assert any(denial in theirs.message for denial in denials), (case.name, theirs.message, denials)
        return
    warnings = {told(finding, "") for finding in ours.findings if finding.outcome is Outcome.WARN}
    given = {warning for warning in theirs.warnings if warning.startswith("Validation failed")}
    assert {warning.removeprefix("Validation failed for ") for warning in given} == warnings, case.name


def told(finding: Any, verb: str) -> str:
    policy = finding.policy
    verb = f" {verb}" if verb else ""
    return f"ValidatingAdmissionPolicy '{policy.name}' with binding '{policy.binding}'{verb}: {finding.message}"


@cache
def askable(file: Path) -> list[Case]:
    """Give the cases that create an object, as the administrator and on the newest release."""
    newest = catalog.newest().version
    cases = [case for suite in suites.load([file]).suites for case in suite.cases]
    return [
        case
        for case in cases
        if case.object is not None
        and isinstance(case.object.get("metadata"), dict)
        and case.old_object is None
        and case.operation in ("", "CREATE")
        and not (case.subresource or case.user or case.time or case.namespace_labels)
        and case.release in (None, newest)
    ]


def namespace(case: Case) -> str:
    assert case.object is not None
    return str(case.object["metadata"].get("namespace") or "default")


def placed(server: ApiServer, obj: Object) -> tuple[Object, str]:
    """Put an object in its namespace, which is made, with what pods need of one."""
    place = str(obj["metadata"].get("namespace") or "default")
    if not server.plurals.namespaced(GroupVersionKind.of(obj)):
        return obj, ""
    server.ask("POST", "/api/v1/namespaces", {"metadata": {"name": place}})
    server.ask("POST", f"/api/v1/namespaces/{place}/serviceaccounts", {"metadata": {"name": "default"}})
    return {**obj, "metadata": {**obj["metadata"], "namespace": place}}, place
