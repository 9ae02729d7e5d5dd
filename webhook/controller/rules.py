"""Policies → what the API server is asked to send: rules, and the conditions that keep other requests away.

A request is sent once. What a policy with failurePolicy Fail looks at goes to the entry with that failurePolicy, and is
judged there by all policies; the entry under Ignore gets the rest. The same policies always give the same rules in the
same order, so that nothing is written anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from webhook.controller.interests import Interest, interests
from webhook.controller.resources import ANY, NEVER, Pattern, is_one_of, literal
from webhook.model.configuration import Configuration
from webhook.model.policy import FailurePolicy, Policy, ResourceRule
from webhook.model.release import Minor
from webhook.model.request import OPERATIONS

MOST_CONDITIONS: Final = 48
"""Of the 64 that a webhook may have; the others are for who is exempt."""

_NONE: Final[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Condition:
    """A match condition. `guards` are the expressions of policies in it, which the API server may refuse."""

    name: str
    expression: str
    guards: frozenset[str] = _NONE


@dataclass(frozen=True, slots=True)
class Entry:
    """One webhook: for calls that fail, what is sent, and what of it is not."""

    failure_policy: FailurePolicy
    rules: tuple[ResourceRule, ...]
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Registration:
    """The webhooks of both configurations, none of them without rules."""

    validating: tuple[Entry, ...]
    mutating: tuple[Entry, ...]


def registration(
    policies: Iterable[Policy],
    release: Minor,
    configuration: Configuration,
    now: datetime,
    refused: frozenset[str] = _NONE,
) -> Registration:
    """Work out what to register. `refused` are guards that the API server does not compile: it sends without them."""
    given = tuple(policies)

    def entries(*, mutating: bool) -> tuple[Entry, ...]:
        found = interests(given, release, configuration, now, mutating=mutating)
        return _entries(replace(one, guard="") if one.guard in refused else one for one in found)

    return Registration(entries(mutating=False), entries(mutating=True))


@dataclass(frozen=True, slots=True)
class _Sent:
    """Requests for one kind of resource: `guards` say which of them are wanted, None that all are.

    `given` are the guards as policies have them, without what was written before them here.
    """

    versions: frozenset[str]
    operations: frozenset[str]
    scope: str
    guards: frozenset[str] | None
    given: frozenset[str]

    def where(self, operations: frozenset[str]) -> str:
        """Write what holds for the wanted ones among requests with these operations; "" if all are wanted."""
        tests = [] if self.operations >= operations else [_is_operation(self.operations)]
        if self.guards is not None:
            tests.append(_any(self.guards))
        return " && ".join(tests)


_Table = Mapping[Pattern, _Sent]


def _entries(found: Iterable[Interest]) -> tuple[Entry, ...]:
    by_pattern: dict[Pattern, list[Interest]] = {}
    for one in found:
        by_pattern.setdefault(one.pattern, []).append(one)
    fail = _table(by_pattern, FailurePolicy.FAIL)
    ignore = _without(_table(by_pattern, FailurePolicy.IGNORE), fail)
    made = (_entry(FailurePolicy.FAIL, fail, {}), _entry(FailurePolicy.IGNORE, ignore, fail))
    return tuple(entry for entry in made if entry.rules)


def _table(by_pattern: Mapping[Pattern, list[Interest]], failure_policy: FailurePolicy) -> _Table:
    """Put together what policies of one failurePolicy look at; patterns that overlap have no guards."""
    table = {}
    for pattern, all_of_it in by_pattern.items():
        if some := [one for one in all_of_it if one.failure_policy is failure_policy]:
            operations = frozenset[str]().union(*(one.operations for one in some))
            alone = not any(pattern != other and pattern.overlaps(other) for other in by_pattern)
            guards = _guards(some, operations) if alone else None
            given = _NONE if guards is None else frozenset(one.guard for one in some if one.guard)
            table[pattern] = _Sent(_versions(all_of_it, alone), operations, _scope(all_of_it, alone), guards, given)
    return table


def _guards(some: Iterable[Interest], operations: frozenset[str]) -> frozenset[str] | None:
    """Give one expression for each way to be wanted, None if everything is."""
    unguarded = frozenset[str]().union(*(one.operations for one in some if not one.guard))
    if unguarded == operations:
        return None
    guards = {_during(one.operations, operations, one.guard) for one in some if one.guard}
    return frozenset(guards | ({_is_operation(unguarded)} if unguarded else set()))


def _during(own: frozenset[str], operations: frozenset[str], guard: str) -> str:
    return guard if own == operations else f"{_is_operation(own)} && {guard}"


def _versions(all_of_it: Iterable[Interest], alone: bool) -> frozenset[str]:
    """Name the same versions in both entries: of a kind under both, the second has to know what the first gets."""
    versions = frozenset[str]().union(*(one.versions for one in all_of_it))
    return versions if alone and ANY not in versions else frozenset({ANY})


def _scope(all_of_it: Iterable[Interest], alone: bool) -> str:
    """Likewise: one scope, or any."""
    scopes = {one.scope for one in all_of_it}
    return scopes.pop() if alone and len(scopes) == 1 else ANY


def _without(ignore: _Table, fail: _Table) -> _Table:
    """Take out what goes to the entry under Fail without a condition."""
    left = {}
    for pattern, sent in ignore.items():
        gone = [other.operations for name, other in fail.items() if name.covers(pattern) and other.guards is None]
        if operations := sent.operations.difference(*gone):
            left[pattern] = replace(sent, operations=operations)
    return left


def _entry(failure_policy: FailurePolicy, table: _Table, handled: _Table) -> Entry:
    """Make a webhook of what is to be sent, but for what another one handles."""
    subresources = any("/" in pattern.resource for pattern in table)
    conditions = [*_never(table, subresources), *_handled(table, handled, subresources)]
    conditions += _wanted(table, subresources)[: MOST_CONDITIONS - len(conditions)]
    return Entry(failure_policy, _rules(table), tuple(conditions))


def _never(table: _Table, subresources: bool) -> list[Condition]:
    """A rule cannot leave anything out, so what a wildcard would take in needs a condition."""
    taken = [pattern for pattern in NEVER if any(one.overlaps(pattern) for one in table)]
    return [Condition("never-sent", f"!({is_one_of(taken, subresources=subresources)})")] if taken else []


def _handled(table: _Table, handled: _Table, subresources: bool) -> list[Condition]:
    """Leave out what the entry under Fail gets."""
    gone: dict[str, list[Pattern]] = {}
    guards = _NONE
    for pattern, other in sorted(handled.items()):
        operations = frozenset[str]().union(*(one.operations for name, one in table.items() if name.overlaps(pattern)))
        if operations & other.operations:
            gone.setdefault(other.where(operations), []).append(pattern)
            guards |= other.given
    cases = [_both(is_one_of(gone[what], subresources=subresources), what) for what in sorted(gone)]
    return [Condition("handled-elsewhere", f"!({' || '.join(cases)})", guards)] if cases else []


def _wanted(table: _Table, subresources: bool) -> list[Condition]:
    """Of resources with guards send only what one of them wants, one condition for those with the same guards."""
    by_guards: dict[str, list[Pattern]] = {}
    guards: dict[str, frozenset[str]] = {}
    for pattern, sent in sorted(table.items()):
        if sent.guards is not None:
            what = _any(sent.guards)
            by_guards.setdefault(what, []).append(pattern)
            guards[what] = guards.get(what, _NONE) | sent.given
    return [
        Condition(f"wanted-{index}", _if(is_one_of(by_guards[what], subresources=subresources), what), guards[what])
        for index, what in enumerate(sorted(by_guards))
    ]


def _rules(table: _Table) -> tuple[ResourceRule, ...]:
    """Write the shortest rules: resources of one group with all else the same stand in one."""
    merged: dict[tuple[str, tuple[str, ...], tuple[str, ...], str], list[str]] = {}
    for pattern, sent in sorted(table.items()):
        if not any(
            other != pattern and other.covers(pattern) and table[other].operations >= sent.operations for other in table
        ):
            key = (pattern.group, tuple(sorted(sent.versions)), _ordered(sent.operations), sent.scope)
            merged.setdefault(key, []).append(pattern.resource)
    return tuple(
        ResourceRule((group,), versions, tuple(sorted(resources)), operations, scope=scope)
        for (group, versions, operations, scope), resources in sorted(merged.items())
    )


def _ordered(operations: frozenset[str]) -> tuple[str, ...]:
    return tuple(one for one in OPERATIONS if one in operations)


def _is_operation(operations: frozenset[str]) -> str:
    return f"request.operation in {literal(_ordered(operations))}"


def _any(guards: frozenset[str]) -> str:
    ordered = sorted(guards)
    return ordered[0] if len(ordered) == 1 else f"({' || '.join(f'({one})' for one in ordered)})"


def _both(one: str, other: str) -> str:
    return " && ".join(f"({part})" for part in (one, other) if part) or "true"


def _if(one: str, other: str) -> str:
    return f"!({one}) || {other}" if one else other
