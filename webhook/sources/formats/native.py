"""Kubernetes' own `ValidatingAdmissionPolicy` and its bindings, read as they are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Literal

from webhook.model import policy as model
from webhook.sources.formats import rules
from webhook.sources.formats.base import Fault, Mapped, shown
from webhook.sources.formats.fields import Cel, Line, ObjectName
from webhook.sources.formats.match import MatchResources
from webhook.sources.formats.place import Place

ApiVersion = Literal["admissionregistration.k8s.io/v1", "admissionregistration.k8s.io/v1beta1"]


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


class Spec(rules.Rules):
    """`spec` of a ValidatingAdmissionPolicy."""

    REFUSED: ClassVar = {"paramKind": rules.PARAMS}

    validations: list[Validation] = []

    @classmethod
    def faults(cls, given: dict[str, Any]) -> Iterable[Fault]:
        """A policy has to say something."""
        if not given.get("validations") and not given.get("auditAnnotations"):
            yield (), "says nothing, want `validations` or `auditAnnotations`"


class BindingSpec(Mapped):
    """`spec` of a ValidatingAdmissionPolicyBinding."""

    REFUSED: ClassVar = {"paramRef": rules.PARAMS}

    policy_name: ObjectName
    validation_actions: rules.Actions
    match_resources: MatchResources | None = None

    @classmethod
    def faults(cls, given: dict[str, Any]) -> Iterable[Fault]:
        """Check the word of `paramRef` that is copied wrong most: `Fail`, as in `failurePolicy`."""
        reference = given.get("paramRef")
        action = reference.get("parameterNotFoundAction", "Deny") if isinstance(reference, dict) else "Deny"
        if action not in ("Allow", "Deny"):
            yield ("paramRef", "parameterNotFoundAction"), f"got {shown(action)}, want `Allow` or `Deny`"


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

    def build(self, root: Place, binding: ValidatingAdmissionPolicyBinding) -> model.Policy:
        """Make one Policy of the policy and one of its bindings."""
        spec, place, resources = self.spec, root / "spec", binding.spec.match_resources
        return model.Policy(
            name=self.metadata.name,
            match=spec.match_constraints.build(),
            origin=model.Origin.VALIDATING_ADMISSION_POLICY,
            location=(root / "metadata" / "name").location(),
            failure_policy=model.FailurePolicy(spec.failure_policy),
            actions=rules.actions_of(binding.spec.validation_actions),
            on_existing_violation=None,
            binding=binding.metadata.name,
            binding_match=resources.build() if resources else None,
            match_conditions=rules.each(spec.match_conditions, place / "matchConditions"),
            variables=rules.each(spec.variables, place / "variables"),
            validations=rules.each(spec.validations, place / "validations"),
            audit_annotations=rules.each(spec.audit_annotations, place / "auditAnnotations"),
        )
