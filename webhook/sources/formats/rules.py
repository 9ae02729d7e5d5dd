"""The parts that `AdmissionPolicy` shares with Kubernetes' own policies, as the API server checks them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Final, Literal, Protocol, TypeVar

from pydantic import AfterValidator, Field

from webhook.model import policy as model
from webhook.sources.formats.base import Fault, Mapped
from webhook.sources.formats.fields import (
    Cel,
    Identifier,
    Kind,
    ObjectApiVersion,
    ObjectName,
    QualifiedName,
    RuleName,
    Words,
)
from webhook.sources.formats.match import LabelSelector, MatchConstraints
from webhook.sources.formats.place import Place

MAX_CONDITIONS: Final = 64
MAX_ANNOTATIONS: Final = 20
MAX_ANNOTATION_BYTES: Final = 5 * 1024
"""Limits of the API server (`pkg/apis/admissionregistration/validation`)."""

Made = TypeVar("Made", covariant=True)


class Buildable(Protocol[Made]):
    """A mapping that becomes a word of the model."""

    def build(self, place: Place) -> Made: ...


def each(entries: Iterable[Buildable[Made]], place: Place) -> tuple[Made, ...]:
    """Build every entry of a list that stands at `place`."""
    return tuple(entry.build(place / index) for index, entry in enumerate(entries))


def _actions(actions: list[str]) -> list[str]:
    if repeated := [action for index, action in enumerate(actions) if action in actions[:index]]:
        raise ValueError(f"`{repeated[0]}` stands there twice")
    if {"Deny", "Warn"} <= set(actions):
        raise ValueError("got `Deny` and `Warn`, want one of them: a denial says all that the warning would")
    return actions


def _annotation_expression(text: str) -> str:
    if (size := len(text.strip().encode())) > MAX_ANNOTATION_BYTES:
        raise ValueError(f"{size} bytes, want at most {MAX_ANNOTATION_BYTES}")
    return text


Actions = Annotated[
    list[Literal["Deny", "Warn", "Audit"]],
    Field(min_length=1, json_schema_extra={"uniqueItems": True}),
    AfterValidator(_actions),
]


def actions_of(names: Iterable[str]) -> frozenset[model.Action]:
    """Make the model's word of `validationActions`."""
    return frozenset(model.Action(name) for name in names)


class Metadata(Mapped):
    """`metadata`: the name counts; the rest is what the API server puts there."""

    REFUSED: ClassVar = {"namespace": "this kind is cluster-scoped and has no namespace"}

    name: ObjectName
    annotations: dict[str, str] = {}
    creation_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None
    deletion_timestamp: str | None = None
    finalizers: list[str] = []
    generation: int | None = None
    labels: dict[str, str] = {}
    managed_fields: list[Any] = []
    owner_references: list[Any] = []
    resource_version: str | None = None
    self_link: str | None = None
    uid: str | None = None


class MatchCondition(Mapped):
    """One more test of the request; all must be true."""

    name: QualifiedName
    expression: Cel

    def build(self, place: Place) -> model.NamedExpression:
        """Make the model's word of it."""
        return model.NamedExpression(self.name, (place / "expression").expression(self.expression))


class Variable(Mapped):
    """A value computed once per review, that later expressions read as `variables.<name>`."""

    name: Identifier
    expression: Cel

    def build(self, place: Place) -> model.NamedExpression:
        """Make the model's word of it."""
        return model.NamedExpression(self.name, (place / "expression").expression(self.expression))


class AuditAnnotation(Mapped):
    """A value for the audit log, under `<policy>/<key>`."""

    key: RuleName
    value_expression: Annotated[Cel, AfterValidator(_annotation_expression)]

    def build(self, place: Place) -> model.AuditAnnotation:
        """Make the model's word of it."""
        value = (place / "valueExpression").expression(self.value_expression)
        return model.AuditAnnotation(self.key, value)


class JsonPatch(Mapped):
    """A CEL expression that gives a list of `JSONPatch{op, path, value}`."""

    expression: Cel


class ApplyConfiguration(Mapped):
    """A CEL expression that gives the part of the object to be merged into it: `Object{spec: Object.spec{…}}`."""

    expression: Cel


_FIELDS: Final = {"JSONPatch": "jsonPatch", "ApplyConfiguration": "applyConfiguration"}
"""Where a mutation of each type has its expression."""


class Mutation(Mapped):
    """One change."""

    RULES: ClassVar = {
        f"self.patchType != '{kind}' || (has(self.{field}) && !has(self.{other}))": f"`{kind}` wants `{field}` alone"
        for kind, field, other in (
            ("JSONPatch", "jsonPatch", "applyConfiguration"),
            ("ApplyConfiguration", "applyConfiguration", "jsonPatch"),
        )
    }

    patch_type: Literal["JSONPatch", "ApplyConfiguration"]
    json_patch: JsonPatch | None = None
    apply_configuration: ApplyConfiguration | None = None

    @classmethod
    def faults(cls, given: dict[str, Any]) -> Iterable[Fault]:
        """The type says which of the two expressions is there."""
        wanted = _FIELDS.get(str(given.get("patchType")))
        for field in _FIELDS.values() if wanted else ():
            if field == wanted and field not in given:
                yield (field,), "missing, and required"
            elif field != wanted and field in given:
                yield (field,), f"cannot be given with patchType `{given['patchType']}`"

    def build(self, place: Place) -> model.Mutation:
        """Make the model's word of it."""
        patch, kind = self.json_patch or self.apply_configuration, model.PatchType(self.patch_type)
        assert patch is not None  # noqa: S101 - `faults` has seen to it
        return model.Mutation((place / _FIELDS[kind] / "expression").expression(patch.expression), patch_type=kind)


class ParamKind(Mapped):
    """What kind of object `params` is."""

    api_version: ObjectApiVersion
    kind: Kind


class ParamRef(Mapped):
    """Which objects a policy is evaluated with, each by itself."""

    AT_MOST_ONE: ClassVar = (("name", "selector"),)
    RULES: ClassVar = {"has(self.name) || has(self.selector)": "want `name` or `selector`"}

    name: Words | None = None
    namespace: Words | None = None
    """Where they are; the namespace that the request is about otherwise."""
    selector: LabelSelector | None = None
    parameter_not_found_action: Literal["Allow", "Deny"]
    """What a request gets while there is no such object."""

    @classmethod
    def faults(cls, given: dict[str, Any]) -> Iterable[Fault]:
        """Something has to be named."""
        if "name" not in given and "selector" not in given:
            yield (), "names nothing, want `name` or `selector`"


def params_of(kind: ParamKind | None, reference: ParamRef | None, place: Place) -> model.Params | None:
    """Make the model's word of both. A reference without a kind counts for nothing, as in Kubernetes.

    `place` is that of the spec which has the reference.
    """
    if kind is None or reference is None:
        return None
    return model.Params(
        api_version=kind.api_version,
        kind=kind.kind,
        name=reference.name or "",
        namespace=reference.namespace or "",
        selector=reference.selector.build() if reference.selector else None,
        required=reference.parameter_not_found_action == "Deny",
        location=(place / "paramRef").location(),
    )


class Rules(Mapped):
    """What the `spec` of every policy can hold."""

    UNIQUE: ClassVar = {"matchConditions": "name", "variables": "name"}

    param_kind: ParamKind | None = None
    """What kind of object expressions read as `params`."""
    failure_policy: Literal["Fail", "Ignore"] = "Fail"
    """What a rule that cannot be evaluated means: Fail (the default) refuses the request."""
    match_constraints: MatchConstraints
    """Which requests the policy is about."""
    match_conditions: Annotated[list[MatchCondition], Field(max_length=MAX_CONDITIONS)] = []
    """More tests of the request; all must be true."""
    variables: list[Variable] = []
    """Values computed when first read, once a review."""


class Judging(Rules):
    """What the `spec` of a policy that judges can hold."""

    UNIQUE: ClassVar = {**Rules.UNIQUE, "auditAnnotations": "key"}

    audit_annotations: Annotated[list[AuditAnnotation], Field(max_length=MAX_ANNOTATIONS)] = []
    """Values for the audit log."""
