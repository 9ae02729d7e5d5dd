"""Which kinds a policy is about, and how their objects are built in the releases that it holds for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from webhook.admission.plurals import Plurals
from webhook.admission.structures import Structure, builtin, cozystack, kinds
from webhook.model.policy import Policy, ResourceRule
from webhook.model.release import Minor
from webhook.model.request import GroupVersionKind
from webhook.sources import catalog
from webhook.sources.schemas import Given

_OF_PARENT: Final = ("/status", "/ephemeralcontainers", "/resize", "/approval", "/finalize")
"""Subresources that are asked about with the whole object."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind that rules can match."""

    of: GroupVersionKind
    plural: str
    namespaced: bool | None


@dataclass(frozen=True, slots=True)
class Matched:
    """The kinds that a policy matches, as far as they are known; `others`: it may match more.

    `built` says how objects of each kind are built, by its name, in the releases that the policy holds for.
    """

    kinds: tuple[Kind, ...]
    built: Mapping[str, tuple[Structure, ...]]
    operations: frozenset[str]
    others: bool

    @property
    def names(self) -> frozenset[str]:
        """The kinds' names."""
        return frozenset(one.of.kind for one in self.kinds)

    def are_namespaced(self, names: Iterable[str]) -> bool:
        """Do objects of all of these kinds live in namespaces."""
        chosen = set(names)
        return not self.others and all(
            one.namespaced and one.of.kind != "Namespace" for one in self.kinds if one.of.kind in chosen
        )

    def structures(self, names: Iterable[str]) -> tuple[Structure, ...]:
        """Give how objects of some of the kinds are built."""
        return tuple(one for name in names for one in self.built.get(name, ()))


class Universe:
    """Every kind that is known: Kubernetes' own, Cozystack's of each release, and those of files."""

    def __init__(self, given: Given | None = None) -> None:
        self._given = given or Given()
        self._structures: dict[GroupVersionKind, Structure | None] = {}

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """All kinds, those of each release once."""
        plurals = Plurals(self._given.definitions.values())
        found = dict.fromkeys(
            (*self._given.named(), *(one for release in self.releases for one in kinds(str(release))))
        )
        return tuple(Kind(one, plurals.resource(one), plurals.namespaced(one)) for one in found)

    @cached_property
    def releases(self) -> tuple[Minor, ...]:
        """The releases that are known, oldest first."""
        return catalog.releases()

    def matched(self, policy: Policy) -> Matched:
        """Give what a policy is about."""
        rules = policy.match.resource_rules
        found = tuple(dict.fromkeys(kind for rule in rules for kind in self.of_rule(rule)))
        operations = frozenset(one for rule in rules for one in rule.operations)
        if "*" in operations:
            operations = frozenset({"CREATE", "UPDATE", "DELETE", "CONNECT"})
        releases = [one for one in self.releases if not policy.releases or one in policy.releases]
        built = {
            name: self._of([one for one in found if one.of.kind == name], releases)
            for name in dict.fromkeys(one.of.kind for one in found)
        }
        return Matched(found, built, operations, any(map(self._open, rules)))

    def of_rule(self, rule: ResourceRule) -> Iterator[Kind]:
        """Give the known kinds that a rule matches, itself or one of their versions."""
        for kind in self.kinds:
            of = kind.of
            if (
                _any(of.group, rule.api_groups)
                and _any(of.version, rule.api_versions)
                and _any(kind.plural, _resources(rule))
                and not (rule.scope == "Cluster" and kind.namespaced)
                and not (rule.scope == "Namespaced" and kind.namespaced is False)
            ):
                yield kind

    def kind(self, api_version: str, kind: str) -> Matched:
        """Give what is known of one kind, in all releases."""
        of = GroupVersionKind.of({"apiVersion": api_version, "kind": kind})
        found = tuple(one for one in self.kinds if one.of == of)
        return Matched(found, {kind: self._of(found, self.releases)}, frozenset(), not found)

    def _open(self, rule: ResourceRule) -> bool:
        """Can a rule match what is not known: any kind, a subresource, or a kind that nobody here knows."""
        resources = _resources(rule)
        if "*" in resources or any("/" in one for one in resources):
            return True
        known = {(group, kind.plural) for kind in self.of_rule(rule) for group in (kind.of.group, "*")}
        return any((group, plural) not in known for group in rule.api_groups for plural in resources)

    def _of(self, found: Iterable[Kind], releases: Iterable[Minor]) -> tuple[Structure, ...]:
        minors = list(map(str, releases))
        made = {}
        for kind in found:
            for minor in minors:
                if (structure := self._structure(kind.of, minor)) is not None:
                    made[id(structure)] = structure
        return tuple(made.values())

    def _structure(self, kind: GroupVersionKind, release: str) -> Structure | None:
        if kind not in self._structures:
            self._structures[kind] = self._given.structure(kind)
        return self._structures[kind] or cozystack(kind, release) or builtin(kind)


def _resources(rule: ResourceRule) -> tuple[str, ...]:
    """Give the resources of a rule; a subresource whose objects are those of its parent stands for that."""
    return tuple(one.partition("/")[0] if one.endswith(_OF_PARENT) else one for one in rule.resources)


def _any(value: str, wanted: tuple[str, ...]) -> bool:
    return "*" in wanted or value in wanted
