"""What requests a policy is about: Kubernetes' `MatchResources`, with the API server's own rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field

from webhook.model import policy as model
from webhook.model import selector
from webhook.model.request import DELETE, OPERATIONS
from webhook.sources.formats.base import Fault, Mapped, entries, one_of, shown
from webhook.sources.formats.fields import LabelValue, QualifiedName


def _alone(values: list[str]) -> list[str]:
    """`*` says everything; nothing can stand beside it."""
    if "*" in values and len(values) > 1:
        raise ValueError("`*` stands for everything, want it alone")
    return values


def _versions(versions: list[str]) -> list[str]:
    if "" in versions:
        raise ValueError("has an empty entry, want versions such as `v1`")
    return _alone(versions)


def _resources(resources: list[str]) -> list[str]:
    """Check `packages`, `packages/status`, `*`, `*/scale`, `pods/*` and `*/*`.

    As in the API server, an entry is one too many only after an entry that covers it.
    """
    if any(not resource or resource.endswith("/") or resource.startswith("/") for resource in resources):
        raise ValueError("has an empty part, want resources such as `packages` or `packages/status`")
    if "*/*" in resources and len(resources) > 1:
        raise ValueError("`*/*` stands for everything, want it alone")
    for index, resource in enumerate(resources):
        name, slash, subresource = resource.partition("/")
        wider = {f"{name}/*", f"*/{subresource}"} if slash else {"*"}
        if covering := sorted((wider & set(resources[:index])) - {resource}):
            raise ValueError(f"`{covering[0]}` covers `{resource}` already, want only one of them")
    return resources


def _resource_names(names: list[str]) -> list[str]:
    for index, name in enumerate(names):
        if name in ("", ".", "..") or "/" in name or "%" in name:
            raise ValueError(f"got {shown(name)}, want an object's name")
        if name in names[:index]:
            raise ValueError(f"`{name}` stands there twice")
    return names


class ResourceRule(Mapped):
    """Any of each list, all of the lists (`NamedRuleWithOperations`)."""

    api_groups: Annotated[list[str], Field(min_length=1), AfterValidator(_alone)]
    api_versions: Annotated[list[str], Field(min_length=1), AfterValidator(_versions)]
    resources: Annotated[list[str], Field(min_length=1), AfterValidator(_resources)]
    operations: Annotated[
        list[Literal["*", "CREATE", "UPDATE", "DELETE", "CONNECT"]],
        Field(min_length=1),
        AfterValidator(_alone),
    ]
    resource_names: Annotated[list[str], AfterValidator(_resource_names)] = []
    scope: Literal["*", "Cluster", "Namespaced"] = "*"

    def build(self) -> model.ResourceRule:
        """Make the model's word of it."""
        return model.ResourceRule(
            api_groups=tuple(self.api_groups),
            api_versions=tuple(self.api_versions),
            resources=tuple(self.resources),
            operations=tuple(self.operations),
            resource_names=tuple(self.resource_names),
            scope=self.scope,
        )


class Requirement(Mapped):
    """One test of one label (`metav1.LabelSelectorRequirement`)."""

    RULES: ClassVar = {
        "(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)": (
            "`In` and `NotIn` want at least one of `values`, `Exists` and `DoesNotExist` take none"
        )
    }

    key: QualifiedName
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    values: list[LabelValue] = []

    @classmethod
    def faults(cls, given: dict[str, Any]) -> Iterable[Fault]:
        """`values` belong to In and NotIn."""
        match given.get("operator"), given.get("values"):
            case "In" | "NotIn" as operator, None | []:
                yield ("values",), f"empty, want at least one value for `{operator}`"
            case "Exists" | "DoesNotExist" as operator, list() as values if values:
                yield ("values",), f"`{operator}` takes no values"


class LabelSelector(Mapped):
    """All of both lists must hold; an empty selector matches everything (`metav1.LabelSelector`)."""

    match_labels: dict[QualifiedName, LabelValue] = {}
    match_expressions: list[Requirement] = []

    def build(self) -> selector.LabelSelector:
        """Make the model's word of it: a label is the requirement that it is in a list of one."""
        labels = (selector.Requirement(key, "In", (value,)) for key, value in self.match_labels.items())
        expressions = (
            selector.Requirement(entry.key, entry.operator, tuple(entry.values)) for entry in self.match_expressions
        )
        return selector.LabelSelector((*labels, *expressions))


class MatchResources(Mapped):
    """Which requests (`matchResources` of a binding, `match` of an exception)."""

    resource_rules: list[ResourceRule] = []
    exclude_resource_rules: list[ResourceRule] = []
    namespace_selector: LabelSelector | None = None
    object_selector: LabelSelector | None = None
    match_policy: Literal["Exact", "Equivalent"] = "Equivalent"

    def build(self) -> model.MatchResources:
        """Make the model's word of it. An empty selector selects everything, as none does."""
        return model.MatchResources(
            resource_rules=tuple(rule.build() for rule in self.resource_rules),
            exclude_resource_rules=tuple(rule.build() for rule in self.exclude_resource_rules),
            namespace_selector=self.namespace_selector.build() if self.namespace_selector else None,
            object_selector=self.object_selector.build() if self.object_selector else None,
            match_policy=self.match_policy,
        )


class MatchConstraints(MatchResources):
    """Which requests a policy is about: at least one rule says it."""

    resource_rules: Annotated[list[ResourceRule], Field(min_length=1)]


def delete_rules(given: dict[str, Any], name: str = "matchConstraints") -> Iterator[Fault]:
    """Find the rules of `name` that say DELETE, which nothing can mutate: there is no object to come."""
    constraints = given.get(name)
    for index, rule in entries(constraints if isinstance(constraints, dict) else {}, "resourceRules"):
        operations = rule.get("operations")
        for position, operation in enumerate(operations if isinstance(operations, list) else ()):
            if operation == DELETE:
                wanted = one_of([known for known in OPERATIONS if known != DELETE])
                path = (name, "resourceRules", index, "operations", position)
                yield path, f"got `DELETE` in a policy with mutations, want {wanted}, or two policies"
