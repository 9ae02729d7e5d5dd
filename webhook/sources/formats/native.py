"""Kubernetes' own `ValidatingAdmissionPolicy` and `MutatingAdmissionPolicy` and their bindings, read as they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field

from webhook.model import policy as model
from webhook.sources.formats import rules
from webhook.sources.formats.base import Fault, Mapped
from webhook.sources.formats.fields import Cel, Line, ObjectName
from webhook.sources.formats.match import MatchResources, delete_rules
from webhook.sources.formats.place import Place

ApiVersion = Literal[
    "admissionregistration.k8s.io/v1",
    "admissionregistration.k8s.io/v1beta1",
    "admissionregistration.k8s.io/v1alpha1",
]


class Validation(Mapped):
    """One rule. `Unauthorized` is in Kubernetes' documentation, but its API server refuses it."""

    expression: Cel
    message: Line | None = None
    message_expression: Cel | None = None
    reason: Literal["Forbidden", "Invalid", "RequestEntityTooLarge"] = "Invalid"

    def build(self, place: Place) -> model.Validation:
        """Make the model's word of it, called by its index."""
        return model.Validation(
            name=str(place.path[-1]),
            expression=(place / "expression").expression(self.expression),
            message=place.text("message", self.message, self.message_expression),
            reason=model.Reason(self.reason),
        )


class Spec(rules.Judging):
    """`spec` of a ValidatingAdmissionPolicy."""

    validations: list[Validation] = []

    @classmethod
    def faults(cls, given: dict[str, Any]) -> Iterable[Fault]:
        """A policy has to say something."""
        if not given.get("validations") and not given.get("auditAnnotations"):
            yield (), "says nothing, want `validations` or `auditAnnotations`"


class MutatingSpec(rules.Rules):
    """`spec` of a MutatingAdmissionPolicy."""

    mutations: Annotated[list[rules.Mutation], Field(min_length=1)]
    reinvocation_policy: Literal["Never", "IfNeeded"]

    @classmethod
    def faults(cls, given: dict[str, Any]) -> Iterable[Fault]:
        """What is deleted cannot be changed."""
        yield from delete_rules(given, "matchConstraints")


class MutatingBindingSpec(Mapped):
    """`spec` of a MutatingAdmissionPolicyBinding."""

    policy_name: ObjectName
    param_ref: rules.ParamRef | None = None
    match_resources: MatchResources | None = None

    @classmethod
    def faults(cls, given: dict[str, Any]) -> Iterable[Fault]:
        """What is deleted cannot be changed."""
        yield from delete_rules(given, "matchResources")


class BindingSpec(Mapped):
    """`spec` of a ValidatingAdmissionPolicyBinding."""

    policy_name: ObjectName
    param_ref: rules.ParamRef | None = None
    validation_actions: rules.Actions
    match_resources: MatchResources | None = None


class ValidatingAdmissionPolicyBinding(Mapped):
    """Where a policy holds, and what follows when a rule is broken."""

    api_version: ApiVersion
    kind: Literal["ValidatingAdmissionPolicyBinding"]
    metadata: rules.Metadata
    spec: BindingSpec
    status: Any = None


class ValidatingAdmissionPolicy(Mapped):
    """The rules; a binding says where they hold and what follows."""

    api_version: ApiVersion
    kind: Literal["ValidatingAdmissionPolicy"]
    metadata: rules.Metadata
    spec: Spec
    status: Any = None

    def build(self, root: Place, binding: ValidatingAdmissionPolicyBinding, bound: Place) -> model.Policy:
        """Make one Policy of the policy and one of its bindings, with the places of both."""
        spec, place = self.spec, root / "spec"
        return replace(
            _bound(self, root, binding, bound),
            origin=model.Origin.VALIDATING_ADMISSION_POLICY,
            actions=rules.actions_of(binding.spec.validation_actions),
            validations=rules.each(spec.validations, place / "validations"),
            audit_annotations=rules.each(spec.audit_annotations, place / "auditAnnotations"),
        )


class MutatingAdmissionPolicyBinding(Mapped):
    """Where a policy holds."""

    api_version: ApiVersion
    kind: Literal["MutatingAdmissionPolicyBinding"]
    metadata: rules.Metadata
    spec: MutatingBindingSpec


class MutatingAdmissionPolicy(Mapped):
    """The changes; a binding says where they are made."""

    api_version: ApiVersion
    kind: Literal["MutatingAdmissionPolicy"]
    metadata: rules.Metadata
    spec: MutatingSpec

    def build(self, root: Place, binding: MutatingAdmissionPolicyBinding, bound: Place) -> model.Policy:
        """Make one Policy of the policy and one of its bindings, with the places of both."""
        return replace(
            _bound(self, root, binding, bound),
            origin=model.Origin.MUTATING_ADMISSION_POLICY,
            mutations=rules.each(self.spec.mutations, root / "spec" / "mutations"),
            reinvocation_policy=self.spec.reinvocation_policy,
        )


def _bound(
    policy: ValidatingAdmissionPolicy | MutatingAdmissionPolicy,
    root: Place,
    binding: ValidatingAdmissionPolicyBinding | MutatingAdmissionPolicyBinding,
    bound: Place,
) -> model.Policy:
    """Make what policies of both kinds have."""
    spec, place, resources = policy.spec, root / "spec", binding.spec.match_resources
    return model.Policy(
        name=policy.metadata.name,
        match=spec.match_constraints.build(),
        location=(root / "metadata" / "name").location(),
        failure_policy=model.FailurePolicy(spec.failure_policy),
        on_existing_violation=None,
        binding=binding.metadata.name,
        binding_match=resources.build() if resources else None,
        reads_params=spec.param_kind is not None,
        params=rules.params_of(spec.param_kind, binding.spec.param_ref, bound / "spec"),
        match_conditions=rules.each(spec.match_conditions, place / "matchConditions"),
        variables=rules.each(spec.variables, place / "variables"),
    )
