"""Which policies a request is for: resource rules, selectors and names, as the API server matches them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from webhook.engine.context import Cluster
from webhook.model.policy import MatchResources, ResourceRule
from webhook.model.request import AdmissionRequest, GroupVersionResource, Object
from webhook.model.selector import LabelSelector

_ANY: Final = "*"
_NO_LABELS: Final[Mapping[str, str]] = {}


def rules_may_match(match: MatchResources, request: AdmissionRequest) -> bool:
    """Do the rules fit, as far as kind of request and scope tell: the same for every object of a resource."""
    rules = match.resource_rules
    return not rules or any(_rule_fits(rule, match.match_policy, request) for rule in rules)


def matches(match: MatchResources, request: AdmissionRequest, cluster: Cluster) -> bool:
    """Does everything fit. Raises NotKnown when the labels of the request's namespace are needed and not known."""
    return not mismatch(match, request, cluster)


def mismatch(match: MatchResources, request: AdmissionRequest, cluster: Cluster) -> str:
    """Say what does not fit, "" if all does: rules with their names, exclusions (which win), both selectors.

    No rules at all fit every request: a binding or an exception that only narrows by selector.

    Raises NotKnown when the labels of the request's namespace are needed and not known.
    """
    covers = match.resource_rules
    if covers and not any(_rule_covers(rule, match.match_policy, request) for rule in covers):
        return "it is about objects of other names"
    if any(_rule_covers(rule, match.match_policy, request) for rule in match.exclude_resource_rules):
        return "it excludes such requests"
    if not _object_selected(match.object_selector, request):
        return "its objectSelector picks other labels"
    if not namespace_selected(match.namespace_selector, request, cluster):
        return "its namespaceSelector picks other namespaces"
    return ""


def covering(match: MatchResources, request: AdmissionRequest) -> Iterator[int]:
    """Give the indexes of the rules that fit, names included."""
    rules = enumerate(match.resource_rules)
    return (index for index, rule in rules if _rule_covers(rule, match.match_policy, request))


def _rule_covers(rule: ResourceRule, match_policy: str, request: AdmissionRequest) -> bool:
    """Kubernetes: a rule with resourceNames never covers a create by generateName, which has no name yet."""
    return (not rule.resource_names or request.name in rule.resource_names) and _rule_fits(rule, match_policy, request)


def _rule_fits(rule: ResourceRule, match_policy: str, request: AdmissionRequest) -> bool:
    return (
        _listed(rule.operations, request.operation)
        and _resource_listed(rule.resources, request.resource.resource, request.subresource)
        and _scope_fits(rule.scope, request)
        and any(
            _listed(rule.api_groups, resource.group) and _listed(rule.api_versions, resource.version)
            for resource in _resources(match_policy, request)
        )
    )


def _resources(match_policy: str, request: AdmissionRequest) -> tuple[GroupVersionResource, ...]:
    """Exact looks at what the user sent, Equivalent also at what the API server has made of it."""
    if match_policy == "Exact" or request.resource is request.request_resource:
        return (request.request_resource,)
    return (request.resource, request.request_resource)


def _listed(values: tuple[str, ...], value: str) -> bool:
    return value in values or _ANY in values


def _resource_listed(patterns: tuple[str, ...], resource: str, subresource: str) -> bool:
    """Match `packages`, `packages/status`, `*` (no subresource), `*/scale`, `*/*`.

    `pods/*` covers the pods themselves too: so does the API server, whatever its documentation says.
    """
    for pattern in patterns:
        wanted, _, sub = pattern.partition("/")
        if wanted in (_ANY, resource) and sub in (_ANY, subresource):
            return True
    return False


def _scope_fits(scope: str, request: AdmissionRequest) -> bool:
    if scope == _ANY:
        return True
    return (scope == "Namespaced") == (bool(request.namespace) and not is_namespace(request))


def is_namespace(request: AdmissionRequest) -> bool:
    """Is the request about a Namespace, which is cluster-scoped although it carries its own name as namespace."""
    return request.resource.resource == "namespaces" and not request.resource.group


def namespace_selected(selector: LabelSelector | None, request: AdmissionRequest, cluster: Cluster) -> bool:
    """Kubernetes: the selector is ignored for cluster-scoped objects; a Namespace is tested by its own labels."""
    if selector is None or not selector.requirements:
        return True
    if is_namespace(request):
        return selector.matches(labels_of(request.object or request.old_object))
    return not request.namespace or selector.matches(labels_of(cluster.namespace(request.namespace)))


def _object_selected(selector: LabelSelector | None, request: AdmissionRequest) -> bool:
    """Kubernetes: the new **or** the old object has to fit, so that a label cannot be taken off to escape."""
    if selector is None or not selector.requirements:
        return True
    return any(obj is not None and selector.matches(labels_of(obj)) for obj in (request.object, request.old_object))


def labels_of(obj: Object | None) -> Mapping[str, str]:
    """Return `metadata.labels`, or nothing where an object has none (or something else in its place)."""
    metadata = (obj or {}).get("metadata")
    labels = metadata.get("labels") if isinstance(metadata, dict) else None
    return labels if isinstance(labels, dict) else _NO_LABELS
