"""Kyverno's `ValidatingPolicy` and `MutatingPolicy` and their namespaced twins, read as they are.

The types of `policies.kyverno.io` (github.com/kyverno/api). A field that cannot be honoured is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Final, Literal

from webhook.errors import DocumentError, did_you_mean
from webhook.model import policy as model
from webhook.model.selector import LabelSelector, Requirement
from webhook.sources.formats import kyverno_autogen as autogen
from webhook.sources.formats import rules
from webhook.sources.formats.base import Mapped
from webhook.sources.formats.fields import ObjectName
from webhook.sources.formats.kyverno_account import with_accounts
from webhook.sources.formats.kyverno_lookups import with_lookups
from webhook.sources.formats.kyverno_spec import MutatingSpec, Spec, ValidatingSpec
from webhook.sources.formats.place import Place
from webhook.sources.objects import NAME_LABEL

ApiVersion = Literal["policies.kyverno.io/v1", "policies.kyverno.io/v1beta1", "policies.kyverno.io/v1alpha1"]

_ANNOTATION: Final = "policies.kyverno.io/"
_SEVERITIES: Final = {"info": model.Severity.LOW, **{severity.value: severity for severity in model.Severity}}


class Metadata(rules.Metadata):
    """`metadata`: of a kind that has no namespace the API server drops it, and so do we."""

    REFUSED: ClassVar = {}

    namespace: str | None = None


class NamespacedMetadata(Metadata):
    """`metadata` of a policy that holds in its own namespace."""

    namespace: ObjectName


class _Policy(Mapped):
    """What documents of all four kinds have."""

    api_version: ApiVersion
    kind: str
    metadata: Metadata
    spec: Spec
    status: Any = None

    def notices(self, root: Place) -> Iterator[DocumentError]:
        """Say what is written and counts for nothing, in Kyverno too."""
        if self.metadata.namespace and not self._namespace:
            place = root / "metadata" / "namespace"
            yield place.error(f"counts for nothing: a {self.kind} is cluster-scoped; want a Namespaced{self.kind}")
        for index, name in enumerate(self._controllers() or ()):
            if name not in autogen.CONTROLLERS:
                place = root.below(("spec", "autogen", "podControllers", "controllers", index))
                hint = did_you_mean(name, autogen.CONTROLLERS)
                yield place.error(f"Kyverno knows no pod controller `{name}`, and passes over it{hint}")

    @property
    def _namespace(self) -> str:
        """The one that the policy holds in, "" for all."""
        return (self.metadata.namespace or "") if self.kind.startswith("Namespaced") else ""

    def _controllers(self) -> list[str] | None:
        configured = self.spec.autogen and self.spec.autogen.pod_controllers
        return configured.controllers if configured else None

    def _every(self, root: Place, **own: Any) -> list[model.Policy]:
        """Make the policy, and those that Kyverno would make of it for pod controllers. Raises DocumentErrors."""
        made = self._made(root, **own)
        variants = (made, *autogen.generated(made, self._controllers()))
        return [with_lookups(with_accounts(policy), self._namespace) for policy in variants]

    def _made(self, root: Place, **own: Any) -> model.Policy:
        spec, place = self.spec, root / "spec"
        namespace, told = self._namespace, self.metadata.annotations
        background = spec.evaluation and spec.evaluation.background
        return model.Policy(
            name=f"{namespace}/{self.metadata.name}" if namespace else self.metadata.name,
            match=spec.match_constraints.build(),
            location=(root / "metadata" / "name").location(),
            title=" ".join(told.get(f"{_ANNOTATION}title", "").split()),
            category=" ".join(told.get(f"{_ANNOTATION}category", "").split()),
            severity=_SEVERITIES.get(told.get(f"{_ANNOTATION}severity", ""), model.Severity.MEDIUM),
            failure_policy=model.FailurePolicy(spec.failure_policy),
            on_existing_violation=None,
            binding_match=_within(namespace) if namespace else None,
            background=not background or background.enabled is not False,
            match_conditions=rules.each(spec.match_conditions, place / "matchConditions"),
            variables=rules.each(spec.variables, place / "variables"),
            audit_annotations=rules.each(spec.audit_annotations, place / "auditAnnotations"),
            **own,
        )


class ValidatingPolicy(_Policy):
    """The rules, and what follows when one is broken."""

    kind: Literal["ValidatingPolicy", "NamespacedValidatingPolicy"]
    spec: ValidatingSpec

    def build(self, root: Place) -> list[model.Policy]:
        """Make the policy, and those for pod controllers. Raises DocumentErrors."""
        return self._every(
            root,
            origin=model.Origin.VALIDATING_POLICY,
            actions=rules.actions_of(self.spec.validation_actions),
            validations=rules.each(self.spec.validations, root / "spec" / "validations"),
        )


class MutatingPolicy(_Policy):
    """The changes."""

    kind: Literal["MutatingPolicy", "NamespacedMutatingPolicy"]
    spec: MutatingSpec

    def build(self, root: Place) -> list[model.Policy]:
        """Make the policy, and those for pod controllers. Raises DocumentErrors."""
        return self._every(
            root,
            origin=model.Origin.MUTATING_POLICY,
            mutations=rules.each(self.spec.mutations, root / "spec" / "mutations"),
            reinvocation_policy=self.spec.reinvocation_policy,
        )


class NamespacedValidatingPolicy(ValidatingPolicy):
    """The rules for one namespace."""

    metadata: NamespacedMetadata


class NamespacedMutatingPolicy(MutatingPolicy):
    """The changes for one namespace."""

    metadata: NamespacedMetadata


FORMATS: Final[dict[str, type[ValidatingPolicy | MutatingPolicy]]] = {
    "ValidatingPolicy": ValidatingPolicy,
    "MutatingPolicy": MutatingPolicy,
    "NamespacedValidatingPolicy": NamespacedValidatingPolicy,
    "NamespacedMutatingPolicy": NamespacedMutatingPolicy,
}


def _within(namespace: str) -> model.MatchResources:
    """Match whatever lives in a namespace."""
    anything = model.ResourceRule(("*",), ("*",), ("*/*",), ("*",), scope="Namespaced")
    selector = LabelSelector((Requirement(NAME_LABEL, "In", (namespace,)),))
    return model.MatchResources(resource_rules=(anything,), namespace_selector=selector)
