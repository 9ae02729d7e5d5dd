"""What an audit has to list: the kinds that policies match, each in a version in which they do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from webhook.admission.synthesize import Circumstances, synthesize
from webhook.cluster.discovery import Resources
from webhook.cluster.resources import Resource
from webhook.engine.policyset import LinkedPolicy, PolicySet
from webhook.errors import UsageError, did_you_mean
from webhook.model.release import Minor
from webhook.model.request import AdmissionRequest, GroupVersionKind, Object

_EVENTS: Final = {("", "Event"), ("events.k8s.io", "Event")}
"""They say what has happened, and nobody can mend them."""
_VERBS: Final = {"list", "create"}
_CREATE: Final = Circumstances()


@dataclass(frozen=True, slots=True)
class Target:
    """A kind to be listed, and the policies for its objects; `again` if others judge them in another version."""

    resource: Resource
    policies: PolicySet
    again: bool = False

    def request(self, obj: Object) -> AdmissionRequest:
        """Make the request that would create the object as it is."""
        return synthesize(obj, _Served(self.resource), _CREATE)


@dataclass(frozen=True, slots=True)
class _Served:
    """Tells how the kind is served."""

    one: Resource

    def resource(self, kind: GroupVersionKind) -> str:  # noqa: ARG002 - it is of this kind
        return self.one.plural

    def namespaced(self, kind: GroupVersionKind) -> bool | None:  # noqa: ARG002 - as above
        return self.one.namespaced


def targets(
    resources: Resources, policies: PolicySet, releases: Sequence[Minor], kinds: Sequence[str] = ()
) -> tuple[Target, ...]:
    """Choose what to list for policies that hold on any of these releases. Raises UsageError for an unknown kind.

    `kinds` narrows it down: `Package`, `packages` or `packages.cozystack.io`. An object is listed once, in the version
    that the API server prefers, unless policies are about others alone: for these it is listed in theirs, too.
    """
    served = [versions for versions in resources.versions() if _can_be_audited(versions[0])]
    asked = _asked_for(served, kinds) if kinds else served
    return tuple(target for versions in asked for target in _of_kind(versions, policies, releases))


def _can_be_audited(resource: Resource) -> bool:
    return resource.verbs >= _VERBS and (resource.group, resource.kind) not in _EVENTS


def _asked_for(served: Sequence[tuple[Resource, ...]], kinds: Iterable[str]) -> list[tuple[Resource, ...]]:
    names = {kind.lower(): kind for kind in kinds}
    found = [versions for versions in served if _names(versions[0]) & names.keys()]
    unknown = names.keys() - {name for versions in found for name in _names(versions[0])}
    for name in sorted(unknown):
        known = [word for versions in served for word in (versions[0].kind, versions[0].plural)]
        hint = did_you_mean(names[name], known)
        raise UsageError(f"argument --kind: the cluster serves no `{names[name]}` that can be audited{hint}")
    return found


def _names(resource: Resource) -> set[str]:
    return {resource.kind.lower(), resource.plural, resource.full_name}


def _of_kind(versions: Sequence[Resource], policies: PolicySet, releases: Sequence[Minor]) -> Iterator[Target]:
    """Cover all policies that match the kind in any version; most often one version does."""
    matching = {one: _matching(one, policies, releases) for one in versions}
    missing = {id(policy) for found in matching.values() for policy in found}
    again = False
    for one, found in sorted(matching.items(), key=lambda item: -len(item[1])):
        new = [policy for policy in found if id(policy) in missing]
        if new:
            yield Target(one, _only(policies, new) if again else policies, again)
            again = True
            missing -= {id(policy) for policy in new}


def _matching(resource: Resource, policies: PolicySet, releases: Sequence[Minor]) -> list[LinkedPolicy]:
    """Give the policies that a request to create such an object may be for."""
    metadata = {"name": "any"} | ({"namespace": "any"} if resource.namespaced else {})
    obj = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata}
    request = Target(resource, policies).request(obj)
    found = [policies.candidates(request, release) for release in releases]
    return list({id(one): one for each in found for one in (*each.mutating, *each.validating)}.values())


def _only(policies: PolicySet, wanted: Iterable[LinkedPolicy]) -> PolicySet:
    names = {id(one) for one in wanted}
    kept = tuple(one for one in policies.policies if id(one) in names)
    return PolicySet(kept, policies.slots, policies.lookups)
