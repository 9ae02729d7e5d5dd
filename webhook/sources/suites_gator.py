"""A suite of `gator verify` → a suite for each of its tests: each assertion about an object is a case."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from webhook.errors import DocumentError, DocumentErrors
from webhook.model.request import Object
from webhook.model.suite import SOME, Case, Expectation, Suite, Violations
from webhook.sources import suite_files
from webhook.sources.formats import gator as formats
from webhook.sources.formats.place import Place
from webhook.sources.written import Written


def suites(document: Written) -> tuple[list[Suite], list[DocumentError]]:
    """Read the suites, and say what is wrong with tests and cases that cannot be used; the others can.

    Raises DocumentErrors with every fault of the document itself.
    """
    suite = document.check(formats.Suite)
    made: list[Suite] = []
    errors: list[DocumentError] = []
    for index, test in enumerate(suite.tests):
        try:
            made += _suite(Written(test, document.place / "tests" / index), errors)
        except DocumentErrors as faults:
            errors += faults
    return [] if suite.skip else made, errors


def _suite(written: Written, errors: list[DocumentError]) -> Iterator[Suite]:
    """Make the suite of a test; faults of its cases are added to `errors`. Raises DocumentErrors for its own."""
    test, place = written.check(formats.Test), written.place
    cases: list[Case] = []
    for number, case in enumerate(test.cases):
        try:
            cases += _cases(test, case, place / "cases" / number)
        except DocumentErrors as faults:
            errors += faults
    if cases and not test.skip:
        policies = tuple(suite_files.path(place, named) for named in (test.template, test.constraint))
        yield Suite(place.file, policies, tuple(cases))


def _cases(test: formats.Test, case: formats.Case, place: Place) -> Iterator[Case]:
    """Make a case of each assertion. Raises DocumentErrors for files that cannot be used."""
    if case.skip:
        return
    given = _request(suite_files.one(place / "object", case.object))
    others: list[Object] = []
    for index, named in enumerate(case.inventory):
        others += suite_files.objects(place / "inventory" / index, named)
    for index, assertion in enumerate(case.assertions):
        which = f" ({index + 1})" if len(case.assertions) > 1 else ""
        yield Case(
            name=f"{test.name}: {case.name}{which}",
            expect=_expectation(assertion),
            location=(place / "name").location(),
            lookups=tuple(others),
            **given,
        )


def _request(written: Written) -> dict[str, Any]:
    """Take an object as it is, or out of an AdmissionReview, with all that this says. Raises DocumentErrors."""
    if written.kind != "AdmissionReview" or not written.text("apiVersion").startswith("admission.k8s.io/"):
        if isinstance(written.value, dict):
            return {"object": written.value}
        raise DocumentErrors([written.place.error("want an object")])
    request = written.check(formats.Review).request
    return {
        "object": request.object,
        "old_object": request.old_object,
        "operation": request.operation or "",
        "subresource": request.sub_resource or "",
        "user": request.user_info.build() if request.user_info else None,
    }


def _expectation(assertion: formats.Assertion) -> Expectation:
    message = f"/{assertion.message}/" if assertion.message else ""
    match assertion.violations:
        case True | "yes":
            return Expectation(message=message, violations=SOME)
        case False | "no":
            return Expectation(message=message, violations=Violations(0, 0))
        case count:
            return Expectation(message=message, violations=Violations(int(count), int(count)))
