"""What the bundled policies are exported as, and the requests of their own tests, asked of a real API server."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from webhook.engine.policyset import PolicySet
from webhook.model.request import Object
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
