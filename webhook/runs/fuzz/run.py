"""Objects that nobody wrote → the pipeline → the laws that must hold of every decision."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from random import Random
from typing import Final, NamedTuple

from webhook.engine.finding import NOT_EVALUATED
from webhook.engine.pipeline import review
from webhook.model.decision import Decision, Finding, Outcome
from webhook.model.fuzz import Fuzzed, Law, Slip
from webhook.model.path import walk
from webhook.model.request import GroupVersionKind, Object
from webhook.model.suite import Case, Expected, Suite
from webhook.runs.fuzz.change import MISSING, Change, change, values
from webhook.runs.suite import Tested, context_of, decide, request_of
from webhook.sources import catalog
from webhook.sources.objects import ObjectStore
from webhook.sources.schemas import Schemas, conform

_STATUS: Final = "status"
"""What schemas say of it is not asked for: only who writes it has to keep to it."""
_MOST: Final = 4
"""Changes of one case: a slip seldom needs more, and fewer are easier to read."""
_ATTEMPTS: Final = 10
"""Objects that are made for each that is tried: the API server would not let all of them through."""
_REFUSED: Final = frozenset({Outcome.DENY, Outcome.ERROR})


class _Step(NamedTuple):
    """A change of one of a case's objects: `which` is -2 for the object, -1 for the old one, else a lookup's index."""

    which: int
    change: Change

    def __str__(self) -> str:
        names = {_OBJECT: "object", _OLD: "oldObject"}
        return f"{names.get(self.which, f'lookups[{self.which}]')}: {self.change}"


_OBJECT: Final = -2
_OLD: Final = -1


def fuzz(suite: Suite, tested: Tested, tries: int, seed: int) -> Fuzzed:
    """Try so many objects on the policies of a suite. The same seed tries the same ones."""
    cases = [case for case in suite.cases if case.expect.outcome is not Expected.INVALID and _objects(case)]
    if not cases or not tested.policies.policies:
        return Fuzzed(suite, 0, ())
    run = _Run(suite, tested, Random(f"{seed} {suite.file}"))  # noqa: S311 - the same each time
    slips: dict[tuple[Law, str], Slip] = {}
    tried, made = 0, (run.make(cases) for _ in range(tries * _ATTEMPTS))
    for trial in islice(filter(None, made), tries):
        tried += 1
        for rule, slip in run.slips(*trial):
            slips.setdefault((slip.law, rule), slip)
    return Fuzzed(suite, tried, tuple(slips.values()))


class _Run:
    """One suite's objects, and what they are held to."""

    def __init__(self, suite: Suite, tested: Tested, random: Random) -> None:
        self._tested, self._random = tested, random
        self._schemas: dict[str, Schemas] = {}
        self._as_written: dict[str, set[str]] = {}
        self._seen = [value for case in suite.cases for _, obj in _objects(case) for value in values(obj)]

    def make(self, cases: list[Case]) -> tuple[Case, list[_Step], Case] | None:
        """Change a case; gives it, the changes and what came out. None where the API server lets none through."""
        case = self._random.choice(cases)
        made, steps = case, list[_Step]()
        for _ in range(self._random.randint(1, _MOST)):
            if (step := self._step(made)) and (after := self._taken(made, step)):
                made, steps = after, [*steps, step]
        return (case, steps, made) if steps else None

    def slips(self, case: Case, steps: list[_Step], made: Case) -> Iterator[tuple[str, Slip]]:
        """Give each law that does not hold of what came out, with the rule or policy that broke it."""
        for law, rule, told in self._broken(made):
            if law is Law.NEVER_ERRS and rule in self._errs(case):
                continue
            fewest, told = self._shrunk(case, steps, law, rule, told)
            yield rule, Slip(law, case, tuple(map(str, fewest)), told)

    def _errs(self, case: Case) -> set[str]:
        """Give the rules that err of a case as it is written: its author knows."""
        if case.name not in self._as_written:
            broken = self._broken(case)
            self._as_written[case.name] = {rule for law, rule, _ in broken if law is Law.NEVER_ERRS}
        return self._as_written[case.name]

    def _step(self, case: Case) -> _Step | None:
        which, obj = self._random.choice(_objects(case))
        made = change(self._random, obj, self._schema(case).of(*_kind(case, obj)), self._seen)
        return _Step(which, made) if made else None

    def _taken(self, case: Case, step: _Step) -> Case | None:
        """Give the changed case, if the API server would let such an object through."""
        before = dict(_objects(case)).get(step.which)
        after = step.change.apply(before) if before is not None else None
        if before is None or after is None:
            return None
        structure = self._schema(case).of(*_kind(case, after))
        known = structure if step.change.path[0] != _STATUS else None
        if known is None and not _plausible(before, step.change, stored=step.which >= 0):
            return None
        if structure and (step.change.takes_away_what_is_always_there(structure) or conform(after, structure)):
            return None
        return _with(case, step.which, after)

    def _broken(self, case: Case) -> Iterator[tuple[Law, str, str]]:
        decision = decide(case, self._tested.policies)
        for finding in decision.findings:
            if finding.outcome is Outcome.ERROR or finding.message.startswith(NOT_EVALUATED):
                yield Law.NEVER_ERRS, _rule(finding), f"{finding.rule}: {finding.message}"
        if decision.patch and decision.object is not None:
            yield from self._broken_by_patch(case, decision)

    def _broken_by_patch(self, case: Case, decision: Decision) -> Iterator[tuple[Law, str, str]]:
        request, policies = request_of(case), self._tested.policies
        context = context_of(case, request)
        again = review(policies, request.with_object(decision.object), context)
        for one in again.changes:
            yield Law.IDEMPOTENT, one.policy.name, f"it patches again: {list(one.operations)}"
        patched = {one.policy.name for one in decision.changes}
        before = {_rule(finding) for finding in review(policies, request, context, mutate=False).findings}
        for finding in again.findings:
            if finding.outcome in _REFUSED and finding.policy.name in patched and _rule(finding) not in before:
                yield Law.SATISFIED, _rule(finding), f"{finding.rule}: {finding.message}"

    def _shrunk(self, case: Case, steps: list[_Step], law: Law, rule: str, told: str) -> tuple[list[_Step], str]:
        """Leave out each change without which the law is broken all the same."""
        for step in list(steps):
            fewer = [one for one in steps if one is not step]
            made: Case | None = case
            for one in fewer:
                made = made and self._taken(made, one)
            still = made and next((words for a, b, words in self._broken(made) if (a, b) == (law, rule)), None)
            if still:
                steps, told = fewer, still
        return steps, told

    def _schema(self, case: Case) -> Schemas:
        release = str(case.release or catalog.newest().version)
        if release not in self._schemas:
            self._schemas[release] = Schemas(release, None, ObjectStore(case.lookups, closed_world=True))
        return self._schemas[release]


def _rule(finding: Finding) -> str:
    return f"{finding.policy.name} {finding.rule}"


def _objects(case: Case) -> list[tuple[int, Object]]:
    """Give the objects of a case that can be changed."""
    found = [(_OBJECT, case.object), (_OLD, case.old_object), *enumerate(case.lookups)]
    return [(which, obj) for which, obj in found if obj is not None]


def _with(case: Case, which: int, obj: Object) -> Case:
    if which == _OBJECT:
        return replace(case, object=obj)
    if which == _OLD:
        return replace(case, old_object=obj)
    return replace(case, lookups=(*case.lookups[:which], obj, *case.lookups[which + 1 :]))


def _kind(case: Case, obj: Object) -> tuple[GroupVersionKind, str]:
    kind = GroupVersionKind.of(obj)
    return kind, ObjectStore(case.lookups).resource(kind)


def _plausible(before: Object, made: Change, *, stored: bool) -> bool:
    """Can it be, where no schema says what may: a value of the same type, or none; null only where it is not stored."""
    found, value = walk(before, made.path)
    return made.value is MISSING or (made.value is None and not stored) or (found and type(value) is type(made.value))
