"""Gatekeeper's `ConstraintTemplate` with the engine `K8sNativeValidation`.

`pkg/drivers/k8scel` of github.com/open-policy-agent/gatekeeper.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field

from webhook.model import policy as model
from webhook.model.request import CREATE, OPERATIONS, UPDATE
from webhook.sources.formats import rules
from webhook.sources.formats.base import Fault, Mapped, entries
from webhook.sources.formats.fields import Cel, Kind, Words
from webhook.sources.formats.gatekeeper_constraint import Constraint
from webhook.sources.formats.gatekeeper_parameters import defaulted, literal
from webhook.sources.formats.place import Place

ENGINE: Final = "K8sNativeValidation"
_ANNOTATION: Final = "metadata.gatekeeper.sh/"
_RESERVED: Final = ("params", "anyObject")
_ANY_OBJECT: Final = "object == null ? oldObject : object"


class Variable(rules.Variable):
    """A value that later expressions read as `variables.<name>`."""

    @classmethod
    def faults(cls, given: dict[str, Any]) -> Iterable[Fault]:
        """Some names are taken."""
        if given.get("name") in _RESERVED:
            yield ("name",), f"`{given['name']}` has a meaning in every expression, want another name"


class Validation(Mapped):
    """One rule."""

    expression: Cel
    message: Words | None = None
    message_expression: Cel | None = None

    def build(self, place: Place) -> model.Validation:
        """Make the model's word of it, called by its index. Gatekeeper forbids what it refuses."""
        return model.Validation(
            name=str(place.path[-1]),
            expression=(place / "expression").expression(self.expression),
            message=place.text("message", " ".join((self.message or "").split()), self.message_expression),
            reason=model.Reason.FORBIDDEN,
        )


class Source(Mapped):
    """What a template of CEL says. `generateVAP` says who decides, not what."""

    REFUSED: ClassVar = {"matchConditions": "is not what Gatekeeper reads, want `matchCondition`"}

    variables: list[Variable] = []
    validations: Annotated[list[Validation], Field(min_length=1)]
    match_condition: list[rules.MatchCondition] = []
    failure_policy: Literal["Fail", "Ignore"] = "Fail"
    generate_vap: Annotated[bool | None, Field(alias="generateVAP")] = None


class Code(Mapped):
    """A template's text for one engine."""

    engine: str
    source: dict[str, Any]


class Target(Mapped):
    """What a template says to the API server's requests; other engines' texts may stand beside that of CEL."""

    target: Literal["admission.k8s.gatekeeper.sh"]
    code: list[Code] = []
    rego: str | None = None
    libs: list[str] = []
    operations: list[Literal["*", "CREATE", "UPDATE", "DELETE", "CONNECT"]] | None = None

    @classmethod
    def faults(cls, given: dict[str, Any]) -> Iterable[Fault]:
        """Rego is another engine's language."""
        found = [(index, one) for index, one in entries(given, "code") if one.get("engine") == ENGINE]
        if not found:
            yield (), f"has no `code` for the engine `{ENGINE}`: Rego is not read here"
        for index, one in found[:1]:
            yield from _faults(Source, one.get("source"), ("code", index, "source"))


class Names(Mapped):
    """What constraints of a template are called."""

    kind: Kind
    plural: str | None = None
    singular: str | None = None
    short_names: list[str] = []
    list_kind: str | None = None
    categories: list[str] = []


class CrdSpec(Mapped):
    """The definition of the constraints: their parameters are not held to its schema here."""

    names: Names
    validation: dict[str, Any] = {}


class Crd(Mapped):
    """The definition of the constraints."""

    spec: CrdSpec


class TemplateSpec(Mapped):
    """`spec` of a ConstraintTemplate."""

    crd: Crd
    targets: Annotated[list[Target], Field(min_length=1, max_length=1)]


class ConstraintTemplate(Mapped):
    """The rules; constraints say where they hold, with what parameters, and what follows."""

    api_version: Literal["templates.gatekeeper.sh/v1", "templates.gatekeeper.sh/v1beta1"]
    kind: Literal["ConstraintTemplate"]
    metadata: rules.Metadata
    spec: TemplateSpec
    status: Any = None

    @property
    def defines(self) -> str:
        """The kind of its constraints."""
        return self.spec.crd.spec.names.kind

    def build(self, root: Place, constraint: Constraint, at: Place) -> model.Policy:
        """Make one Policy of the template and one of its constraints, which stands `at`."""
        target = self.spec.targets[0]
        index = next(index for index, code in enumerate(target.code) if code.engine == ENGINE)
        source = Source.model_validate(target.code[index].source)
        place = root.below(("spec", "targets", 0, "code", index, "source"))
        operations = target.operations or [CREATE, UPDATE]
        match = constraint.spec.match
        name = at / "metadata" / "name"
        own = (
            model.NamedExpression("anyObject", name.expression(_ANY_OBJECT)),
            model.NamedExpression("params", name.expression(literal(self._parameters(constraint)))),
        )
        return model.Policy(
            name=constraint.called,
            origin=model.Origin.CONSTRAINT,
            title=" ".join(self.metadata.annotations.get(f"{_ANNOTATION}title", "").split()),
            location=name.location(),
            match=match.resources(OPERATIONS if "*" in operations else tuple(operations)),
            failure_policy=model.FailurePolicy(source.failure_policy),
            actions=constraint.actions,
            on_existing_violation=None,
            match_conditions=(
                *match.conditions(at / "spec" / "match"),
                *rules.each(source.match_condition, place / "matchCondition"),
            ),
            variables=(*own, *rules.each(source.variables, place / "variables")),
            validations=rules.each(source.validations, place / "validations"),
        )

    def _parameters(self, constraint: Constraint) -> Any:
        """Give the parameters as the API server would keep them: with the defaults of the template's schema."""
        return defaulted(constraint.spec.parameters, self.spec.crd.spec.validation.get("openAPIV3Schema"))


def _faults(format_: type[Mapped], value: Any, path: tuple[str | int, ...]) -> Iterator[Fault]:
    from pydantic import ValidationError

    try:
        format_.model_validate(value)
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            yield (*path, *fault["loc"]), fault["msg"]
