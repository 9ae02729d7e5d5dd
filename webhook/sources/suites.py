"""Files of policy tests → suites: every error of every file at once."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from webhook.errors import DocumentError, DocumentErrors, UsageError
from webhook.model.decision import Operation
from webhook.model.explanation import Explanation
from webhook.model.policy import Policy
from webhook.model.release import Minor
from webhook.model.request import Object, UserInfo
from webhook.model.suite import Case, Expectation, Expected, Suite
from webhook.sources import catalog, suite_files, suites_gator, suites_kyverno, written
from webhook.sources.files import unreadable
from webhook.sources.formats import suite as formats
from webhook.sources.formats.fields import moment
from webhook.sources.formats.place import Place
from webhook.sources.policy_files import TESTS_FILE
from webhook.sources.written import Written

_OWN: Final = "PolicyTest"
_KINDS: Final = {_OWN: "", "Test": "cli.kyverno.io/", "Suite": "test.gatekeeper.sh/"}
"""The kinds of suites, and the groups without which a kind of such a name is another."""
_MAY_HOLD_A_SUITE: Final = re.compile(rb"PolicyTest|cli\.kyverno\.io/|test\.gatekeeper\.sh/")
_HIDDEN: Final = ".kyverno-test"
"""The one hidden folder that is looked into: Kyverno's own policies have their tests there."""
_SUFFIXES: Final = frozenset((".yaml", ".yml", ".json"))


@dataclass(frozen=True, slots=True)
class LoadedSuites:
    """What test files gave; a suite with an error is left out."""

    suites: tuple[Suite, ...]
    errors: tuple[DocumentError, ...] = ()


def load(paths: Iterable[str | Path]) -> LoadedSuites:
    """Read the suites of files and folders. Nothing is raised: what is broken is in `errors`."""
    suites: list[Suite] = []
    errors: list[DocumentError] = []
    for path in map(Path, paths):
        before = len(suites) + len(errors)
        for file in _files(path):
            _read(file, suites, errors, named=file == path)
        if len(suites) + len(errors) == before:
            errors.append(DocumentError(str(path), message=f"holds no tests, want documents of kind {_wanted()}"))
    return LoadedSuites(tuple(suites), tuple(errors))


def beside(policy: Policy) -> Suite | None:
    """Read the tests that stand beside a policy, and take the cases that are about it; None where there are none."""
    file = Path(policy.location.file).parent / TESTS_FILE
    if not file.is_file():
        return None
    found = load([file]).suites
    cases = tuple(case for suite in found for case in suite.cases if case.expect.policy in ("", policy.name))
    return replace(found[0], cases=cases) if cases else None


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if name[0] != "." or name == _HIDDEN)
        yield from (Path(folder, name) for name in sorted(names) if Path(name).suffix in _SUFFIXES)


def _read(file: Path, suites: list[Suite], errors: list[DocumentError], *, named: bool) -> None:
    """Read the suites of one file; other kinds may stand beside them unless the file was named."""
    try:
        content = file.read_bytes()
        documents = written.read(str(file), content) if named or _MAY_HOLD_A_SUITE.search(content) else ()
    except OSError as error:
        errors.append(unreadable(str(file), error))
        return
    except DocumentErrors as faults:
        errors += faults
        return
    for document in documents:
        if document.text("apiVersion").startswith(_KINDS.get(document.kind, "\0")):
            try:
                found, faults_of_rows = _suites(document)
                suites += found
                errors += faults_of_rows
            except DocumentErrors as faults:
                errors += faults
        elif named:
            errors.append((document.place / "kind").error(f"got `{document.kind}`, want {_wanted()}"))


def _suites(document: Written) -> tuple[list[Suite], list[DocumentError]]:
    """Read a document's suite, or suites, and what is wrong with parts that are left out. Raises DocumentErrors."""
    if document.kind == _OWN:
        return [_suite(document)], []
    return suites_kyverno.suites(document) if document.kind == "Test" else suites_gator.suites(document)


def _wanted() -> str:
    return ", ".join(f"`{kind}` of {group[:-1]}" if group else f"`{kind}`" for kind, group in _KINDS.items())


def _suite(document: Written) -> Suite:
    suite = document.check(formats.PolicyTest)
    cases: list[Case] = []
    errors: list[DocumentError] = []
    for index, case in enumerate(suite.cases):
        try:
            cases.append(_case(case, suite.defaults, document.place / "cases" / index))
        except DocumentErrors as faults:
            errors += faults
    if errors:
        raise DocumentErrors(errors)
    policies = tuple(suite_files.path(document.place, path) for path in suite.policies)
    mutants = _explanations(suite.mutants, document.place / "mutants")
    unreached = _explanations(suite.unreached, document.place / "unreached")
    return Suite(document.place.file, policies, tuple(cases), tuple(mutants), tuple(unreached))


def _explanations(gaps: Sequence[formats.Mutant | formats.Unreached], place: Place) -> Iterator[Explanation]:
    for index, gap in enumerate(gaps):
        what = " ".join(((gap.change if isinstance(gap, formats.Mutant) else gap.outcome) or "").split())
        yield Explanation(gap.at, what, gap.why, (place / index / "at").location(), gap.policy or "")


def _case(case: formats.Case, defaults: formats.Circumstances, place: Place) -> Case:
    """Make a case; what it does not say is taken from the defaults."""

    def given(name: str) -> Any:
        own = getattr(case, name)
        return own if own is not None else getattr(defaults, name)

    user, time = given("user"), given("time")
    return Case(
        name=case.name,
        object=_object(case, place),
        old_object=case.old_object,
        operation=given("operation") or "",
        subresource=given("subresource") or "",
        user=UserInfo(user, tuple(given("groups") or ())) if user else None,
        namespace_labels=given("namespace_labels") or {},
        lookups=(*(given("lookups") or ()), *_listed(given("params"))),
        release=_release(given("release"), place),
        time=moment(time) if time else None,
        expect=_expectation(case.expect),
        location=(place / "name").location(),
    )


def _listed(params: Any) -> list[Object]:
    """Take the params of a case: one object, or several."""
    return params if isinstance(params, list) else [params] if params else []


def _release(text: str | None, place: Place) -> Minor | None:
    """Read a release. Raises DocumentErrors for one that the catalogue does not know."""
    if text is None:
        return None
    try:
        return catalog.nearest(Minor.parse(text))[0].version
    except UsageError as error:
        raise DocumentErrors([(place / "release").error(str(error))]) from None


def _object(case: formats.Case, place: Place) -> Object | None:
    """Take the object, or read it from the file beside the suite that has it as its only one."""
    if case.object_file is None:
        return case.object
    return suite_files.one_object(place / "objectFile", case.object_file)


def _expectation(expect: formats.Expectation) -> Expectation:
    return Expectation(
        outcome=Expected(expect.outcome) if expect.outcome else None,
        policy=expect.policy or "",
        rule=expect.rule or "",
        field=expect.field or "",
        message=expect.message or "",
        reason=expect.reason or "",
        patch=None if expect.patch is None else tuple(map(_operation, expect.patch)),
        patched=expect.patched,
        warnings=None if expect.warnings is None else tuple(expect.warnings),
        audit_annotations=expect.audit_annotations,
    )


def _operation(operation: formats.Operation) -> Operation:
    made: Operation = {"op": operation.op, "path": operation.path}
    if operation.from_ is not None:
        return made | {"from": operation.from_}
    return made if operation.op == "remove" else made | {"value": operation.value}
