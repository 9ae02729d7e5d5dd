"""`kind: AdmissionPolicy`: Kubernetes' fields under Kubernetes' names, and what people need on top."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, ClassVar, Final, Literal

from pydantic import Field

from webhook.model import policy as model
from webhook.model.release import ReleaseRange
from webhook.sources.formats import match, rules
from webhook.sources.formats.base import Fault, Mapped, entries
from webhook.sources.formats.fields import Cel, FieldPath, Identifier, Line, Releases, RuleName, Url, Words
from webhook.sources.formats.lookup import Lookup
from webhook.sources.formats.place import Place

ApiVersion = Literal["cozyguard.io/v1alpha1"]

NAMES_IN_USE: Final = frozenset(
    (
        *("object", "oldObject", "request", "namespaceObject", "params", "authorizer"),
        *("variables", "lookups", "release", "acknowledged"),
    )
)
"""What every expression sees, and the name of an element must not hide."""


class ForEach(Mapped):
    """Evaluate a rule once per element of a list or a map."""

    in_: Cel = Field(alias="in")
    """A list or a map; null and none count as empty."""
    as_: Identifier | None = Field(alias="as", default=None)
    """What expressions call the element, or the value of the map's entry."""
    at: Identifier | None = None
    """What expressions call the index, or the key of the map's entry."""

    @classmethod
    def faults(cls, given: dict[str, Any]) -> Iterable[Fault]:
        """Check that the two names differ and hide nothing."""
        for key in ("as", "at"):
            if isinstance(name := given.get(key), str) and name in NAMES_IN_USE:
                yield (key,), f"`{name}` has a meaning in every expression, want another name"
        if given.get("as") is not None and given.get("as") == given.get("at"):
            yield ("at",), f"`{given['at']}` is the element already (`as`), want another name"

    def build(self, place: Place) -> model.ForEach:
        """Make the model's word of it."""
        return model.ForEach((place / "in").expression(self.in_), self.as_ or "", self.at or "")


class Fix(Mapped):
    """The way out: words, and operations that mend the object."""

    text: Words | None = None
    text_expression: Cel | None = None
    patch_expression: Cel | None = None
    """A list of `JSONPatch{op, path, value}` that mends the object."""

    def build(self, place: Place) -> model.Fix:
        """Make the model's word of it."""
        return model.Fix(
            text=place.text("text", self.text, self.text_expression),
            patch=place.optional_expression("patchExpression", self.patch_expression),
        )


class Validation(Mapped):
    """One rule: Kubernetes' fields, and where, for which elements, what is allowed and how to mend it."""

    AT_MOST_ONE: ClassVar = (("field", "fieldExpression"),)
    RULES: ClassVar = {
        "has(self.forEach) || !has(self.field) || !self.field.contains('[@]')": (
            "`field`: `[@]` is the current index or key of `forEach`, and there is no `forEach`"
        )
    }

    name: RuleName | None = None
    """What results and exceptions call the rule; its index otherwise."""
    for_each: ForEach | None = None
    expression: Cel
    """Must be true for the object to pass."""
    message: Line | None = None
    message_expression: Cel | None = None
    reason: Literal["Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized"] = "Invalid"
    field: FieldPath | None = None
    """Where a finding points, from the object's root; `[@]` is the current index or key of `forEach`."""
    field_expression: Cel | None = None
    allowed_expression: Cel | None = None
    """A list: printed as what is allowed, and searched for what was meant."""
    fix: Fix | None = None

    @classmethod
    def faults(cls, given: dict[str, Any]) -> Iterable[Fault]:
        """`[@]` needs elements."""
        if "forEach" not in given and "[@]" in str(given.get("field")):
            yield ("field",), "`[@]` is the current index or key of `forEach`, and there is no `forEach`"

    def build(self, place: Place) -> model.Validation:
        """Make the model's word of it; a rule without a name is called by its index."""
        return model.Validation(
            name=self.name or str(place.path[-1]),
            expression=(place / "expression").expression(self.expression),
            message=place.text("message", self.message, self.message_expression),
            reason=model.Reason(self.reason),
            for_each=self.for_each.build(place / "forEach") if self.for_each else None,
            field=place.text("field", self.field, self.field_expression),
            allowed=place.optional_expression("allowedExpression", self.allowed_expression),
            fix=self.fix.build(place / "fix") if self.fix else model.NO_FIX,
        )


class Mutation(rules.Mutation):
    """One change, and its reason."""

    message: Line | None = None
    message_expression: Cel | None = None

    def build(self, place: Place) -> model.Mutation:
        """Make the model's word of it."""
        return replace(super().build(place), message=place.text("message", self.message, self.message_expression))


class Spec(rules.Judging):
    """`spec` of an AdmissionPolicy."""

    REFUSED: ClassVar = {
        "matchResources": "belongs to a binding, which an AdmissionPolicy has not; want `matchConstraints`",
    }
    UNIQUE: ClassVar = {**rules.Judging.UNIQUE, "lookups": "name", "validations": "name"}
    RULES: ClassVar = {
        "[has(self.validations) && size(self.validations) > 0, has(self.mutations) && size(self.mutations) > 0,"
        " has(self.auditAnnotations) && size(self.auditAnnotations) > 0].exists(given, given)": (
            "says nothing, want `validations`, `mutations` or `auditAnnotations`"
        ),
        "!has(self.mutations) || size(self.mutations) == 0"
        " || self.matchConstraints.resourceRules.all(rule, !('DELETE' in rule.operations))": (
            "`DELETE` in a policy with mutations, which nothing can mutate; want other operations, or two policies"
        ),
        "!has(self.paramRef) || has(self.paramKind)": "`paramRef` wants `paramKind` too",
        "!has(self.validationActions) || !('Deny' in self.validationActions && 'Warn' in self.validationActions)": (
            "`validationActions`: got `Deny` and `Warn`, want one of them: a denial says all that the warning would"
        ),
    }

    title: Line | None = None
    """One line: what holds."""
    severity: Literal["low", "medium", "high", "critical"] = "medium"
    """How bad it is if nobody acts; findings are sorted by it."""
    category: Line | None = None
    """A word to group policies by."""
    docs: Url | None = None
    """A page that says more."""
    sources: list[Line] = []
    """Where it is read that this is so: a file and its release, or a page of documentation."""
    why: Words | None = None
    """One or two sentences on what happens otherwise."""
    why_expression: Cel | None = None
    releases: Releases | None = None
    """On which Cozystack releases the policy holds, such as `>=1.5,<1.7`; on all of them otherwise."""
    validation_actions: rules.Actions = ["Deny"]
    """What a broken rule asks for: Deny (the default) or Warn, and Audit."""
    on_existing_violation: Literal["Warn", "Deny"] = "Warn"
    """What an UPDATE gets whose old object breaks the same rule already."""
    reinvocation_policy: Literal["Never", "IfNeeded"] = "Never"
    """Whether mutations run again when a later webhook has changed the object."""
    param_ref: rules.ParamRef | None = None
    """Which objects of `paramKind` the policy is evaluated with, one after the other."""
    lookups: list[Lookup] = []
    """Other objects that the policy reads."""
    validations: list[Validation] = []
    """The rules."""
    mutations: list[Mutation] = []
    """The changes, in order; each sees what those before it made."""
    sensitive_fields: list[FieldPath] = []
    """Paths of fields whose values are never printed."""

    @classmethod
    def faults(cls, given: dict[str, Any]) -> Iterable[Fault]:
        """Check what the parts owe each other."""
        if not any(given.get(name) for name in ("validations", "mutations", "auditAnnotations")):
            yield (), "says nothing, want `validations`, `mutations` or `auditAnnotations`"
        if "paramRef" in given and "paramKind" not in given:
            yield ("paramRef",), "of what kind? want `paramKind` too"
        if given.get("mutations"):
            yield from match.delete_rules(given)
        yield from _numbers_as_names(given)


class AdmissionPolicy(Mapped):
    """A policy of cozyguard's own kind."""

    api_version: ApiVersion
    kind: Literal["AdmissionPolicy"]
    metadata: rules.Metadata
    spec: Spec
    status: Any = None

    def build(self, root: Place) -> model.Policy:
        """Make the model's word of it."""
        spec, place = self.spec, root / "spec"
        return model.Policy(
            name=self.metadata.name,
            match=spec.match_constraints.build(),
            location=(root / "metadata" / "name").location(),
            title=(spec.title or "").strip(),
            severity=model.Severity(spec.severity),
            category=(spec.category or "").strip(),
            docs=spec.docs or "",
            sources=tuple(spec.sources),
            why=place.text("why", spec.why, spec.why_expression),
            releases=ReleaseRange.parse(spec.releases) if spec.releases else None,
            failure_policy=model.FailurePolicy(spec.failure_policy),
            actions=rules.actions_of(spec.validation_actions),
            on_existing_violation=model.Action(spec.on_existing_violation),
            reads_params=spec.param_kind is not None,
            params=rules.params_of(spec.param_kind, spec.param_ref, place),
            match_conditions=rules.each(spec.match_conditions, place / "matchConditions"),
            lookups=rules.each(spec.lookups, place / "lookups"),
            variables=rules.each(spec.variables, place / "variables"),
            validations=rules.each(spec.validations, place / "validations"),
            mutations=rules.each(spec.mutations, place / "mutations"),
            audit_annotations=rules.each(spec.audit_annotations, place / "auditAnnotations"),
            reinvocation_policy=spec.reinvocation_policy,
            sensitive_fields=tuple(spec.sensitive_fields),
        )


def _numbers_as_names(given: dict[str, Any]) -> Iterator[Fault]:
    """A rule without a name is called by its index: no other may be called so."""
    for index, rule in entries(given, "validations"):
        name = rule.get("name")
        if isinstance(name, str) and name.isdigit() and name != str(index):
            yield (
                ("validations", index, "name"),
                f"`{name}` is what a rule without a name is called, want a word",
            )
