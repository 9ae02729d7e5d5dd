"""The policies in force: linked into one set of functions, and indexed by what they match."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

from webhook.cel.program import Activation, Linked, SlotTable
from webhook.cel.slots import UNSET
from webhook.engine.compile import CompiledPolicy, lookup_key, name_of
from webhook.engine.match import rules_may_match
from webhook.engine.secrecy import may_tell
from webhook.model.policy import Lookup, MatchResources, Mutation, Policy, Validation
from webhook.model.release import Minor
from webhook.model.request import DELETE, AdmissionRequest, Object

Function = Callable[..., Any]

_INDEX_SIZE: Final = 4096
"""Kinds of requests remembered: each is a tuple of references, so a full index stays under a few MB."""


@dataclass(frozen=True, slots=True)
class LinkedValidation:
    """One rule with its functions; `name` prefixes the names of those that explain it."""

    validation: Validation
    name: str
    check: Function
    each: Function | None


@dataclass(frozen=True, slots=True)
class LinkedMutation:
    """One mutation with its function."""

    mutation: Mutation
    name: str
    patch: Function


@dataclass(frozen=True, slots=True)
class LinkedPolicy:
    """A policy whose functions can be called. Their first parameter is an Activation."""

    policy: Policy
    linked: Linked
    conditions: tuple[Function, ...]
    validations: tuple[LinkedValidation, ...]
    mutations: tuple[LinkedMutation, ...]
    selects_all: bool
    """Everything that its rules fit is for it: neither names, exclusions nor selectors to test."""
    checks: tuple[Function, ...]
    """All it asks of a request that fits, where that is only that these hold; else empty."""

    def text(self, name: str) -> Function | None:
        """Return the function that computes a text, if the policy has an expression for it."""
        return self.linked.functions.get(name)

    def may_tell_secret(self, name: str, obj: Object) -> bool:
        """Can what this function computes hold a value of `obj` that must never be shown."""
        each = f"{name_of(*name.split('.')[:2])}.each"
        reads = (self.linked.reads(one) for one in (name, each) if one in self.linked.functions)
        return may_tell(self.policy, obj, chain.from_iterable(reads))


@dataclass(frozen=True, slots=True)
class LinkedLookup:
    """A lookup with the policy whose functions name the object, where it is named by an expression."""

    lookup: Lookup
    owner: LinkedPolicy


@dataclass(frozen=True, slots=True)
class Candidates:
    """The policies whose rules fit a kind of request, those that change and those that judge.

    `gates`: where each that judges has a condition, the first ones of all. Most objects end here: all are false.
    """

    mutating: tuple[LinkedPolicy, ...] = ()
    validating: tuple[LinkedPolicy, ...] = ()
    gates: tuple[Function, ...] = ()


@dataclass(slots=True)
class PolicySet:
    """All policies, ordered by name so that decisions do not depend on the order of files.

    The index grows as kinds of requests are seen: one dictionary look-up a review, however many
    policies there are that do not match.
    """

    policies: tuple[LinkedPolicy, ...]
    slots: int
    lookups: dict[str, LinkedLookup]
    _index: dict[tuple[Any, ...], Candidates] = field(default_factory=dict)

    @classmethod
    def link(cls, compiled: Iterable[CompiledPolicy]) -> PolicySet:
        """Link compiled policies: equal variables of different policies become one slot."""
        table, conditions = SlotTable(), dict[int, Function]()
        policies = tuple(_link(one, table, conditions) for one in sorted(compiled, key=_order))
        return cls(policies, len(table), dict(_lookups(policies)))

    def __len__(self) -> int:
        return len(self.policies)

    def candidates(self, request: AdmissionRequest, release: Minor) -> Candidates:
        """Return the policies that may match, in order; selectors, names and conditions are still to be tested."""
        key = (
            request.resource,
            request.request_resource,
            request.subresource,
            request.operation,
            bool(request.namespace),
            release,
        )
        found = self._index.get(key)
        if found is None:
            if len(self._index) >= _INDEX_SIZE:
                self._index.clear()
            found = self._index[key] = self._find(request, release)
        return found

    def _find(self, request: AdmissionRequest, release: Minor) -> Candidates:
        fitting = [one for one in self.policies if _may_match(one.policy, request, release)]
        mutable = request.operation != DELETE
        validating = tuple(one for one in fitting if one.validations or one.policy.audit_annotations)
        return Candidates(tuple(one for one in fitting if one.mutations and mutable), validating, _gates(validating))


def _gates(policies: tuple[LinkedPolicy, ...]) -> tuple[Function, ...]:
    """Give the first condition of each, equal ones once; nothing where one has none, or may read its params there."""
    if any(one.policy.params or not one.conditions for one in policies):
        return ()
    return tuple(dict.fromkeys(one.conditions[0] for one in policies))


def _may_match(policy: Policy, request: AdmissionRequest, release: Minor) -> bool:
    return (
        (policy.releases is None or release in policy.releases)
        and rules_may_match(policy.match, request)
        and (policy.binding_match is None or rules_may_match(policy.binding_match, request))
    )


def _order(compiled: CompiledPolicy) -> tuple[str, str]:
    return compiled.policy.name, compiled.policy.binding


def _link(compiled: CompiledPolicy, table: SlotTable, known: dict[int, Function]) -> LinkedPolicy:
    """Link one policy. `known` has the conditions of those before by their slots: equal ones are one function."""
    policy, linked = compiled.policy, compiled.program.link(table)
    functions = linked.functions
    validations = []
    for index, validation in enumerate(policy.validations):
        name = name_of("validation", index)
        each = functions[name_of(name, "each")] if validation.for_each else None
        validations.append(LinkedValidation(validation, name, functions[name], each))
    mutations = []
    for index, mutation in enumerate(policy.mutations):
        name = name_of("mutation", index)
        mutations.append(LinkedMutation(mutation, name, functions[name]))
    slots = [table.slot(_condition_key(policy, condition.expression.text)) for condition in policy.match_conditions]
    for index, slot in enumerate(slots):
        known.setdefault(slot, _once(functions[name_of("condition", index)], slot))
    conditions = tuple(known[slot] for slot in slots)
    selects_all = policy.binding_match is None and _selects_all(policy.match)
    plain = selects_all and not (conditions or policy.audit_annotations or any(one.each for one in validations))
    checks = tuple(one.check for one in validations) if plain else ()
    return LinkedPolicy(policy, linked, conditions, tuple(validations), tuple(mutations), selects_all, checks)


def _once(condition: Function, slot: int) -> Function:
    """Test a condition once a review, however many policies have it: most requests end at one that many share."""

    def held(activation: Activation) -> Any:
        value = activation.slots[slot]
        if value is UNSET:
            value = activation.slots[slot] = condition(activation)
        return value

    return held


def _condition_key(policy: Policy, text: str) -> str:
    """Name a condition so that equal ones of different policies are one; names in them may mean something else."""
    lookups = {lookup.name: lookup_key(policy, lookup) for lookup in policy.lookups} if "lookups" in text else {}
    own = [one.expression.text for one in policy.variables] if policy.conditions_read_variables else []
    return f"condition {text} {lookups} {own}"


def _selects_all(match: MatchResources) -> bool:
    return not (
        match.exclude_resource_rules
        or match.namespace_selector
        or match.object_selector
        or any(rule.resource_names for rule in match.resource_rules)
    )


def _lookups(policies: Iterable[LinkedPolicy]) -> Iterator[tuple[str, LinkedLookup]]:
    for one in policies:
        for lookup in one.policy.lookups:
            yield lookup_key(one.policy, lookup), LinkedLookup(lookup, one)
