"""Suites run with measured policies, and what they reached in the words of the policies' files."""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from webhook.cel.extent import position, source
from webhook.cel.measure import ELEMENTS, Point, Record, points
from webhook.cel.rewired import Measured
from webhook.cel.tree import Tree
from webhook.engine.compile import CompiledPolicy, expressions, within
from webhook.engine.match import covering
from webhook.engine.policyset import PolicySet
from webhook.model.coverage import PolicyCoverage, Reached, Spot
from webhook.model.explanation import Explanation
from webhook.model.policy import Expression, Policy
from webhook.model.suite import Expected, Suite, SuiteResult
from webhook.runs.suite import Tested, judge, request_of
from webhook.sources import compiled

_RULES: Final = "matchConstraints"
_MATCHED: Final = ("matched",)

_Seen: TypeAlias = set[tuple[int, str]]
"""What one function gave: nodes and their outcomes, or the indexes of rules."""


@dataclass(frozen=True, slots=True)
class MeasuredResult:
    """A suite, judged, and what its cases reached."""

    result: SuiteResult
    reached: frozenset[Reached]


def run(suite: Suite) -> MeasuredResult:
    """Run a suite with policies that record what they evaluate: the verdicts are those of an ordinary run."""
    found = compiled.load(suite.policies)
    records = {identity(one.policy): _records(one) for one in found.policies}
    measured = [replace(one, program=_measured(one, records[identity(one.policy)])) for one in found.policies]
    result = judge(suite, Tested(PolicySet.link(measured), found.errors))
    reached = {
        Reached(policy, function, node, outcome)
        for policy, functions in records.items()
        for function, record in functions.items()
        for node, outcome in record.reached
    }
    return MeasuredResult(result, frozenset({*reached, *_rules_reached(suite, found.policies)}))


def identity(policy: Policy) -> str:
    """Name a policy so that those of different files, and those made from one document, are told apart."""
    return f"{policy.location.file} {policy.origin} {policy.name} {policy.binding} {policy.generated_for}"


def cover(
    policies: Iterable[CompiledPolicy], reached: frozenset[Reached], suites: Iterable[Suite]
) -> Iterator[PolicyCoverage]:
    """Hold what was reached against all that there is, but for what the suites explain."""
    seen: dict[tuple[str, str], _Seen] = defaultdict(set)
    for one in reached:
        seen[one.policy, one.function].add((one.node, one.outcome))
    marks = _explanations(suites)
    for policy in sorted(policies, key=lambda one: identity(one.policy)):
        yield _cover(policy, seen, marks[identity(policy.policy)])


def _explanations(suites: Iterable[Suite]) -> Mapping[str, list[Explanation]]:
    found: dict[str, list[Explanation]] = defaultdict(list)
    for suite in suites:
        for one in compiled.load(suite.policies).policies:
            found[identity(one.policy)] += [mark for mark in suite.unreached if mark.policy in ("", one.policy.name)]
    return found


def _cover(one: CompiledPolicy, seen: Mapping[tuple[str, str], _Seen], marks: Iterable[Explanation]) -> PolicyCoverage:
    spots, used, meant = list[Spot](), set[Explanation](), set[Explanation]()
    for spot in _spots(one, seen):
        if spot.listed:  # what is not listed lies within the last one that is, and is explained with it
            meant = {mark for mark in marks if spot.missing and mark.covers(spot.location.path, spot.told)}
        spots.append(replace(spot, missing=(), explained=spot.missing) if meant else spot)
        used |= meant
    return PolicyCoverage(one.policy, tuple(spots), tuple(mark for mark in marks if mark not in used))


def _measured(one: CompiledPolicy, records: Mapping[str, Record]) -> Measured:
    return Measured.of(one.program, identity(one.policy), records)


def trees_of(one: CompiledPolicy) -> Mapping[str, Tree]:
    """Give the syntax trees of a policy's expressions, by the names of their functions."""
    trees: Mapping[str, Tree] = pickle.loads(one.program.trees)  # noqa: S301 - our own
    return trees


def _records(one: CompiledPolicy) -> dict[str, Record]:
    return {name: Record(tree, _points(name, tree)) for name, tree in trees_of(one).items()}


def _points(name: str, tree: Tree) -> tuple[Point, ...]:
    return points(tree, ELEMENTS if name.endswith(".each") else None)


def _rules_reached(suite: Suite, policies: Iterable[CompiledPolicy]) -> Iterator[Reached]:
    requests = [request_of(case) for case in suite.cases if case.expect.outcome is not Expected.INVALID]
    for one in policies:
        for request in requests:
            for index in covering(one.policy.match, request):
                yield Reached(identity(one.policy), _RULES, index, _MATCHED[0])


def _spots(one: CompiledPolicy, seen: Mapping[tuple[str, str], _Seen]) -> Iterator[Spot]:
    name = identity(one.policy)
    for index in range(len(one.policy.match.resource_rules)):
        missing = () if (index, _MATCHED[0]) in seen[name, _RULES] else _MATCHED
        path = f"spec.matchConstraints.resourceRules[{index}]"
        yield Spot(replace(one.policy.location, path=path), path.rpartition(".")[2], _MATCHED, missing)
    records = _records(one)
    for function, expression in expressions(one.policy):
        yield from _expression_spots(expression, records[function], seen[name, function])


def _expression_spots(expression: Expression, record: Record, seen: _Seen) -> Iterator[Spot]:
    """Give the points of one expression; below what was never evaluated, nothing has to be listed."""
    evaluated = {node for node, _ in seen}
    for point in record.points:
        missing = tuple(outcome for outcome in point.outcomes if (point.node.id, outcome) not in seen)
        at = within(expression, *position(record.tree, point.node))
        listed = point.within is None or point.within in evaluated
        yield Spot(at, source(record.tree, point.node), point.outcomes, missing, listed)
