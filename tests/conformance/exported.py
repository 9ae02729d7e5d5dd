"""What the bundled policies are exported as, and the requests of their own tests, asked of a real API server."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Final

from webhook.engine.policyset import PolicySet
from webhook.model.request import Object
from webhook.model.suite import Case
from webhook.runs.export.policy import export
from webhook.sources import catalog, compiled, suites
from webhook.sources.bundled import bundled

POLICIES = Path(__file__).parents[2] / "policies"
SUITES = sorted(POLICIES.glob("*/*/tests.yaml"))


_SORTS: Final = "1.35"
"""The first minor that takes a new policy with `sort()`: each takes what the one before it knows."""


def documents(minor: str) -> list[Object]:
    """Give all that is exported for the newest release, and that a minor of Kubernetes takes."""
    policies = PolicySet.link(compiled.load([bundled()]).policies).policies
    exported = [export(one, catalog.newest()).objects for one in policies]
    return [obj for objects in exported if minor >= _SORTS or ".sort()" not in json.dumps(objects) for obj in objects]


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
