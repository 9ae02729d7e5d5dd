"""Mutation testing: each mutant of a policy against the cases of its suites, until one notices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from webhook.cel.extent import position, source
from webhook.cel.mutants import Mutant, mutants
from webhook.cel.rewired import Mutated
from webhook.cel.tree import Const, Ident, Tree, walk
from webhook.engine.compile import CompiledPolicy, expressions, within
from webhook.engine.policyset import PolicySet
from webhook.model.mutation import Mutation, Survivor
from webhook.model.policy import Expression
from webhook.model.suite import Expected, Suite
from webhook.runs.coverage import identity, trees_of
from webhook.runs.killers import hint
from webhook.runs.suite import Tested, case_differences
from webhook.sources import compiled

_WORDS: Final = ("message", "allowed", "fix", "patch")
"""Parts of a rule that decide nothing."""

_ASKED: Final = 8
"""Cases that are changed to find one that kills a survivor."""

PolicySets: TypeAlias = list[PolicySet]
"""One for each suite."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A policy and the suites that load it."""

    policy: CompiledPolicy
    suites: list[Suite] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The policy's name."""
        return self.policy.policy.name


def subjects(suites: Iterable[Suite]) -> list[Subject]:
    """Find the policies of suites, in the order of their files."""
    found: dict[str, Subject] = {}
    for suite in suites:
        for one in compiled.load(suite.policies).policies:
            found.setdefault(identity(one.policy), Subject(one)).suites.append(suite)
    return [found[name] for name in sorted(found)]


def mutate(subject: Subject) -> Mutation:
    """Make every mutant of a policy and run the cases; all of these must pass as the policy is."""
    bench, made = _Bench(subject), 0
    alive: list[tuple[Survivor, PolicySets, Tree]] = []
    for function, expression, tree, mutant in _mutants(subject.policy):
        made += 1
        sets = bench.sets(function, mutant)
        if not bench.kills(sets):
            at = within(expression, *position(tree, mutant.node))
            alive.append((Survivor(at, source(tree, mutant.node), mutant.after), sets, tree))
    marks = [mark for suite in subject.suites for mark in suite.mutants if mark.policy in ("", subject.name)]
    survivors = [
        replace(one, hint=bench.hint(sets, tree))
        for one, sets, tree in alive
        if not any(mark.covers(one.location.path, one.change) for mark in marks)
    ]
    stale = tuple(mark for mark in marks if not any(mark.covers(one.location.path, one.change) for one, _, _ in alive))
    return Mutation(subject.policy.policy, made, tuple(survivors), len(alive) - len(survivors), stale)


class _Bench:
    """Runs the cases of a policy's suites with mutants of it."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._trees = trees_of(subject.policy)
        self._loaded = [compiled.load(suite.policies) for suite in subject.suites]
        self._originals = [PolicySet.link(found.policies) for found in self._loaded]
        self._cases = [
            (number, case)
            for number, suite in enumerate(subject.suites)
            for case in suite.cases
            if case.expect.outcome is not Expected.INVALID
        ]

    def sets(self, function: str, mutant: Mutant) -> PolicySets:
        """Link the policies of each suite, with the mutant in its place."""
        name = identity(self._subject.policy.policy)
        changed = {**self._trees, function: mutant.tree}
        return [
            PolicySet.link(
                replace(one, program=Mutated.of(one.program, name, function, changed))
                if identity(one.policy) == name
                else one
                for one in found.policies
            )
            for found in self._loaded
        ]

    def kills(self, sets: PolicySets) -> bool:
        """Does a case fail; the one that does is asked first next time."""
        for index, (number, case) in enumerate(self._cases):
            if any(case_differences(case, Tested(sets[number], self._loaded[number].errors))):
                self._cases.insert(0, self._cases.pop(index))
                return True
        return False

    def hint(self, sets: PolicySets, tree: Tree) -> str:
        """Look for a small change of a case that the mutant answers otherwise."""
        constants = (node.value for node in walk(tree.root) if isinstance(node, Const))
        words = tuple(dict.fromkeys(value for value in constants if isinstance(value, str)))
        for number, case in self._cases[:_ASKED]:
            if found := hint(case, self._originals[number], sets[number], words):
                return found
        return ""


def _mutants(one: CompiledPolicy) -> Iterator[tuple[str, Expression, Tree, Mutant]]:
    """Give the mutants of all that decides: of words for people, no case says what they should be."""
    trees = trees_of(one)
    deciding = _deciding(trees)
    for function, expression in expressions(one.policy):
        if function in deciding:
            for mutant in mutants(trees[function]):
                yield function, expression, trees[function], mutant


def _deciding(trees: Mapping[str, Tree]) -> set[str]:
    """Find the expressions that are no words, and the variables that these read."""
    waiting = [name for name in trees if not name.startswith("variables.") and not _is_wording(name)]
    found: set[str] = set()
    while waiting:
        if (name := waiting.pop()) not in found:
            found.add(name)
            read = (node.name for node in walk(trees[name].root) if isinstance(node, Ident))
            waiting += [name for name in read if name in trees]
    return found


def _is_wording(name: str) -> bool:
    return name == "why" or (name.startswith(("validation.", "mutation.")) and name.rpartition(".")[2] in _WORDS)
