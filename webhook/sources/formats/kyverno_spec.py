"""What the `spec` of Kyverno's policies can hold, and what of it cannot be honoured."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field

from webhook.model import policy as model
from webhook.sources.formats import kyverno_functions as functions
from webhook.sources.formats import rules
from webhook.sources.formats.base import Fault, Mapped
from webhook.sources.formats.fields import Cel, Words
from webhook.sources.formats.match import delete_rules
from webhook.sources.formats.place import Place

_EXISTING: Final = "changes objects that exist already, which a webhook cannot; want a policy without it"


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


def _switch(given: dict[str, Any], name: str) -> Any:
    value = given.get(name)
    return value.get("enabled") if isinstance(value, dict) else None
