"""Kyverno's `ValidatingPolicy` and `MutatingPolicy` and their namespaced twins, read as they are.

The types of `policies.kyverno.io` (github.com/kyverno/api). A field that cannot be honoured is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field

from webhook.errors import DocumentError, did_you_mean
from webhook.model import policy as model
from webhook.model.selector import LabelSelector, Requirement
from webhook.sources.formats import kyverno_autogen as autogen
from webhook.sources.formats import kyverno_functions as functions
from webhook.sources.formats import rules
from webhook.sources.formats.base import Fault, Mapped
from webhook.sources.formats.fields import Cel, ObjectName, Words
from webhook.sources.formats.kyverno_account import with_accounts
from webhook.sources.formats.kyverno_lookups import with_lookups
from webhook.sources.formats.match import delete_rules
from webhook.sources.formats.place import Place
from webhook.sources.objects import NAME_LABEL

ApiVersion = Literal["policies.kyverno.io/v1", "policies.kyverno.io/v1beta1", "policies.kyverno.io/v1alpha1"]

_ANNOTATION: Final = "policies.kyverno.io/"
_EXISTING: Final = "changes objects that exist already, which a webhook cannot; want a policy without it"


class Metadata(rules.Metadata):
    """`metadata`: of a kind that has no namespace the API server drops it, and so do we."""

    REFUSED: ClassVar = {}

    namespace: str | None = None


class NamespacedMetadata(Metadata):
    """`metadata` of a policy that holds in its own namespace."""

    namespace: ObjectName


class MatchCondition(rules.MatchCondition):
    """One more test of the request, under any name."""

    name: Words


Conditions = Annotated[list[MatchCondition], Field(max_length=rules.MAX_CONDITIONS)]


class Validation(Mapped):
    """One rule."""

    expression: Cel
    message: Words | None = None
    message_expression: Cel | None = None
    reason: Literal["Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized"] = "Invalid"

    def build(self, place: Place) -> model.Validation:
        """Make the model's word of it, called by its index. Messages are told on one line."""
        return model.Validation(
            name=str(place.path[-1]),
            expression=(place / "expression").expression(self.expression),
            message=place.text("message", " ".join((self.message or "").split()), self.message_expression),
            reason=model.Reason(self.reason),
        )


class Enabled(Mapped):
    """A switch."""

    enabled: bool | None = None


class PodControllers(Mapped):
    """For which pod controllers a policy about pods holds too."""

    controllers: list[str] | None = None


class Autogen(Mapped):
    """What Kyverno makes of a policy; native policies are not made here, as this engine decides itself."""

    pod_controllers: PodControllers | None = None
    validating_admission_policy: Enabled | None = None
    mutating_admission_policy: Enabled | None = None


class WebhookConfiguration(Mapped):
    """How long the API server waits for Kyverno's webhook."""

    timeout_seconds: Annotated[int, Field(ge=1, le=30)] | None = None


class Evaluation(Mapped):
    """When a policy is evaluated."""

    mode: str = "Kubernetes"
    admission: Enabled | None = None
    background: Enabled | None = None

    @classmethod
    def faults(cls, given: dict[str, Any]) -> Iterable[Fault]:
        """Only requests to the API server are decided about."""
        if given.get("mode", "Kubernetes") != "Kubernetes":
            yield (
                ("mode",),
                f"got `{given['mode']}`, want `Kubernetes`: requests to its API are judged here",
            )
        if _switch(given, "admission") is False:
            yield ("admission", "enabled"), "got `false`, want a policy that is asked about requests"


class MutatingEvaluation(Evaluation):
    """When a policy with mutations is evaluated."""

    mutate_existing: Enabled | None = None
    skip_background_requests: bool | None = None
    """Says nothing here: such requests come from Kyverno's own `mutateExisting`."""
    use_server_side_apply: bool | None = None

    @classmethod
    def faults(cls, given: dict[str, Any]) -> Iterable[Fault]:
        """What exists already is not changed, and atomic fields are not merged."""
        yield from super().faults(given)
        if _switch(given, "mutateExisting"):
            yield ("mutateExisting", "enabled"), _EXISTING
        if given.get("useServerSideApply") is True:
            yield ("useServerSideApply",), "got `true`; atomic fields are refused here, as by a MutatingAdmissionPolicy"


class Spec(rules.Judging):
    """What the `spec` of both kinds can hold."""

    match_conditions: Conditions = []  # type: ignore[assignment]  # narrower, and nobody writes to it
    autogen: Autogen | None = None
    webhook_configuration: WebhookConfiguration | None = None
    """The registration of this webhook has a timeout of its own, for all policies."""
    evaluation: Evaluation | None = None

    @classmethod
    def faults(cls, given: dict[str, Any]) -> Iterable[Fault]:
        """Policies of Kyverno take no params, and some of its functions cannot be had here."""
        if "paramKind" in given:
            yield ("paramKind",), "unknown field: policies of Kyverno take no params"
        yield from functions.refused(given)


class ValidatingSpec(Spec):
    """`spec` of a ValidatingPolicy."""

    validation_actions: rules.Actions = ["Deny"]
    validations: list[Validation] = []

    @classmethod
    def faults(cls, given: dict[str, Any]) -> Iterable[Fault]:
        """A policy has to say something."""
        yield from super().faults(given)
        if not given.get("validations") and not given.get("auditAnnotations"):
            yield (), "says nothing, want `validations` or `auditAnnotations`"


class MutatingSpec(Spec):
    """`spec` of a MutatingPolicy."""

    REFUSED: ClassVar = {"targetMatchConstraints": _EXISTING, "targetMatchConditions": _EXISTING}

    evaluation: MutatingEvaluation | None = None
    mutations: Annotated[list[rules.Mutation], Field(min_length=1)]
    reinvocation_policy: Literal["Never", "IfNeeded"] = "Never"

    @classmethod
    def faults(cls, given: dict[str, Any]) -> Iterable[Fault]:
        """What is deleted cannot be changed."""
        yield from super().faults(given)
        yield from delete_rules(given)


class _Policy(Mapped):
    """What documents of all four kinds have."""

    api_version: ApiVersion
    kind: str
    metadata: Metadata
    spec: Spec
    status: Any = None

    def build(self, root: Place) -> Iterator[model.Policy]:
        """Make the policy, and those that Kyverno would make of it for pod controllers. Raises DocumentErrors."""
        made = self._made(root)
        for policy in (made, *autogen.generated(made, self._controllers())):
            yield with_lookups(with_accounts(policy), self._namespace)

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

    def _made(self, root: Place) -> model.Policy:
        raise NotImplementedError

    def _common(self, root: Place, **more: Any) -> model.Policy:
        spec, place = self.spec, root / "spec"
        namespace, told = self._namespace, self.metadata.annotations
        background = spec.evaluation and spec.evaluation.background
        severity = told.get(f"{_ANNOTATION}severity", "")
        return model.Policy(
            name=f"{namespace}/{self.metadata.name}" if namespace else self.metadata.name,
            match=spec.match_constraints.build(),
            location=(root / "metadata" / "name").location(),
            title=" ".join(told.get(f"{_ANNOTATION}title", "").split()),
            category=" ".join(told.get(f"{_ANNOTATION}category", "").split()),
            severity=model.Severity(severity) if severity in set(model.Severity) else model.Severity.MEDIUM,
            failure_policy=model.FailurePolicy(spec.failure_policy),
            on_existing_violation=None,
            binding_match=_within(namespace) if namespace else None,
            background=not background or background.enabled is not False,
            match_conditions=rules.each(spec.match_conditions, place / "matchConditions"),
            variables=rules.each(spec.variables, place / "variables"),
            audit_annotations=rules.each(spec.audit_annotations, place / "auditAnnotations"),
            **more,
        )


class ValidatingPolicy(_Policy):
    """The rules, and what follows when one is broken."""

    kind: Literal["ValidatingPolicy", "NamespacedValidatingPolicy"]
    spec: ValidatingSpec

    def _made(self, root: Place) -> model.Policy:
        return self._common(
            root,
            origin=model.Origin.VALIDATING_POLICY,
            actions=rules.actions_of(self.spec.validation_actions),
            validations=rules.each(self.spec.validations, root / "spec" / "validations"),
        )


class MutatingPolicy(_Policy):
    """The changes."""

    kind: Literal["MutatingPolicy", "NamespacedMutatingPolicy"]
    spec: MutatingSpec

    def _made(self, root: Place) -> model.Policy:
        return self._common(
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


def _within(namespace: str) -> model.MatchResources:
    """Match whatever lives in a namespace."""
    anything = model.ResourceRule(("*",), ("*",), ("*/*",), ("*",), scope="Namespaced")
    selector = LabelSelector((Requirement(NAME_LABEL, "In", (namespace,)),))
    return model.MatchResources(resource_rules=(anything,), namespace_selector=selector)


def _switch(given: dict[str, Any], name: str) -> Any:
    value = given.get(name)
    return value.get("enabled") if isinstance(value, dict) else None
