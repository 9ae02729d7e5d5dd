"""What has to be watched for the policies in force: kinds, or objects of a kind, and what of them is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from webhook.admission.structures import DEFINITION, is_builtin_group
from webhook.cel.needs import Needs
from webhook.cluster.resources import DEPLOYMENTS, NAMESPACES, PACKAGE_SOURCES
from webhook.engine.policyset import LinkedPolicy, PolicySet
from webhook.model.policy import Lookup, PatchType, Text


class Scope(NamedTuple):
    """The objects of a kind that are watched together: all, those of a namespace, or the one of a name."""

    api_version: str
    kind: str
    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        """Write kind and group as kubectl does, and the place: `Deployment.apps cozy-system/cozystack-operator`."""
        kind = ".".join(part for part in (self.kind, self.api_version.rpartition("/")[0]) if part)
        place = "/".join(part for part in (self.namespace, self.name) if part)
        return f"{kind} {place}" if place else kind

    def covers(self, other: Scope) -> bool:
        """Are the other's objects among these."""
        return self[:2] == other[:2] and self.namespace in ("", other.namespace) and self.name in ("", other.name)


Wants = Mapping[Scope, Needs]

RELEASE: Final = frozenset(
    {
        Scope(PACKAGE_SOURCES.api_version, PACKAGE_SOURCES.kind),
        Scope(DEPLOYMENTS.api_version, DEPLOYMENTS.kind, "cozy-system", "cozystack-operator"),
    }
)
"""What tells the release of the cluster, and what it offers."""

_RELEASE_NEEDS: Final = Needs(
    frozenset(
        {
            ("spec", "variants"),
            ("spec", "template", "spec", "containers", "*", "image"),
            ("spec", "template", "spec", "containers", "*", "env"),
        }
    )
)


def wanted(policies: PolicySet) -> Wants:
    """Give what these policies need, and what is always needed: namespaces, and what tells the release."""
    found: dict[Scope, Needs] = {}
    for scope, needs in (*_always(policies.policies), *_looked_up(policies.policies), *_merged(policies.policies)):
        found[scope] = found.get(scope, Needs()) | needs
    return _joined(found)


def _always(policies: Iterable[LinkedPolicy]) -> Iterator[tuple[Scope, Needs]]:
    for scope in RELEASE:
        yield scope, _RELEASE_NEEDS
    namespaces = Scope(NAMESPACES.api_version, NAMESPACES.kind)
    yield namespaces, Needs()  # their labels are always kept, and selectors read nothing else
    for one in policies:
        yield namespaces, one.linked.needs("namespaceObject")


def _looked_up(policies: Iterable[LinkedPolicy]) -> Iterator[tuple[Scope, Needs]]:
    for one in policies:
        for lookup in one.policy.lookups:
            needs = one.linked.needs(f"lookups.{lookup.name}")
            yield _scope(lookup), needs if lookup.object_name else needs.of_elements()
        if params := one.policy.params:
            yield Scope(params.api_version, params.kind, params.namespace, params.name), one.linked.needs("params")


def _merged(policies: Iterable[LinkedPolicy]) -> Iterator[tuple[Scope, Needs]]:
    """Whoever merges into custom resources has to know how they are built."""
    if any(
        mutation.mutation.patch_type is PatchType.APPLY_CONFIGURATION and not is_builtin_group(group)
        for one in policies
        for mutation in one.mutations
        for rule in one.policy.match.resource_rules
        for group in rule.api_groups
    ):
        yield Scope(*DEFINITION), Needs(frozenset({("spec", "versions")}))


def _scope(lookup: Lookup) -> Scope:
    return Scope(lookup.api_version, lookup.kind, _fixed(lookup.namespace), _fixed(lookup.object_name))


def _fixed(text: Text) -> str:
    """Give what is written out; what an expression computes can be anything."""
    return "" if text.expression else text.literal


def _joined(found: Mapping[Scope, Needs]) -> Wants:
    """Watch once what several scopes hold, with all that is needed of it."""
    joined: dict[Scope, Needs] = {}
    for scope, needs in found.items():
        widest = min((other for other in found if other.covers(scope)), key=lambda other: (other.namespace, other.name))
        joined[widest] = joined.get(widest, Needs()) | needs
    return joined
