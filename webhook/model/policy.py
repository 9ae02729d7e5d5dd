"""A policy as written: what `AdmissionPolicy` and Kubernetes' own admission policies say, checked and typed.

Every name that Kubernetes has keeps its meaning: see `ValidatingAdmissionPolicySpec`,
`MutatingAdmissionPolicySpec` and their bindings in `admissionregistration.k8s.io/v1`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from typing import Final

from webhook.model.release import ReleaseRange
from webhook.model.selector import LabelSelector


class FailurePolicy(StrEnum):
    """What our own failure means: a request that is refused, or one that goes on."""

    FAIL = "Fail"
    IGNORE = "Ignore"


class Action(StrEnum):
    """What a broken rule asks for (`validationActions`)."""

    DENY = "Deny"
    WARN = "Warn"
    AUDIT = "Audit"


class Severity(StrEnum):
    """How bad it is if nobody acts; ordered by `rank`, worst first."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def rank(self) -> int:
        """0 is the worst."""
        return list(Severity).index(self)


class Reason(StrEnum):
    """The machine-readable reason of a denial (`metav1.StatusReason`) that a rule may name."""

    INVALID = "Invalid"
    FORBIDDEN = "Forbidden"
    UNAUTHORIZED = "Unauthorized"
    REQUEST_ENTITY_TOO_LARGE = "RequestEntityTooLarge"

    @property
    def status(self) -> HTTPStatus:
        """The HTTP status that Kubernetes sends with it."""
        return {
            Reason.INVALID: HTTPStatus.UNPROCESSABLE_ENTITY,
            Reason.FORBIDDEN: HTTPStatus.FORBIDDEN,
            Reason.UNAUTHORIZED: HTTPStatus.UNAUTHORIZED,
            Reason.REQUEST_ENTITY_TOO_LARGE: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        }[self]


@dataclass(frozen=True, slots=True)
class Location:
    """Where something is written: file, line and column (from 1), field path."""

    file: str
    line: int = 0
    column: int = 0
    path: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return f"{place}: {self.path}" if self.path else place


NOWHERE: Final = Location("")


@dataclass(frozen=True, slots=True)
class Expression:
    """A CEL expression and where it is written.

    `written` is how its file has it, from that place on, where that is not as `text` has it: folded, or with escapes.
    `made_from` is the one that is in the file, where this was made from another.
    """

    text: str
    location: Location
    written: str = ""
    made_from: Expression | None = None

    def rewritten(self, text: str) -> Expression:
        """Give another text, whose places are looked for in this one."""
        return self if text == self.text else Expression(text, self.location, made_from=self)


@dataclass(frozen=True, slots=True)
class Text:
    """Words for people: either literal, or computed by a CEL expression of type string."""

    literal: str = ""
    expression: Expression | None = None

    def __bool__(self) -> bool:
        return bool(self.literal or self.expression)


NO_TEXT: Final = Text()


@dataclass(frozen=True, slots=True)
class ResourceRule:
    """`NamedRuleWithOperations`: any of each list, all of the lists. `*` matches everything.

    `resources` are `packages`, `packages/status`, `*`, `*/scale`, `pods/*` or `*/*`.
    """

    api_groups: tuple[str, ...]
    api_versions: tuple[str, ...]
    resources: tuple[str, ...]
    operations: tuple[str, ...]
    resource_names: tuple[str, ...] = ()
    scope: str = "*"


@dataclass(frozen=True, slots=True)
class MatchResources:
    """`matchConstraints`, or a binding's `matchResources`. `match_policy` is Equivalent or Exact."""

    resource_rules: tuple[ResourceRule, ...] = ()
    exclude_resource_rules: tuple[ResourceRule, ...] = ()
    namespace_selector: LabelSelector | None = None
    object_selector: LabelSelector | None = None
    match_policy: str = "Equivalent"


@dataclass(frozen=True, slots=True)
class NamedExpression:
    """A variable or a match condition."""

    name: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class Lookup:
    """Another object (or a list of them) that rules read as `lookups.<name>`.

    With a name the value is the object, or null when it is known to be absent; without, it is the
    list of those that `label_selector` picks. "Not known" is neither: the rule is then skipped.
    """

    name: str
    api_version: str
    kind: str
    object_name: Text = NO_TEXT
    namespace: Text = NO_TEXT
    label_selector: LabelSelector | None = None
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class Params:
    """The objects that a policy is evaluated with one after the other, as `params`: `paramKind` and `paramRef`.

    Those of a name, or those that a selector picks; without a `namespace`, of the namespace that the request is about.
    `required`: a request is refused where there are none.
    """

    api_version: str
    kind: str
    name: str = ""
    namespace: str = ""
    selector: LabelSelector | None = None
    required: bool = True
    location: Location = NOWHERE
    """Where the reference is written."""


@dataclass(frozen=True, slots=True)
class ForEach:
    """Evaluate a rule once per element: `as_` is the value, `at` the index or key, "" when unnamed."""

    in_: Expression
    as_: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True)
class Fix:
    """The way out: words and, where it is mechanical, a list of JSON Patch operations."""

    text: Text = NO_TEXT
    patch: Expression | None = None


NO_FIX: Final = Fix()


@dataclass(frozen=True, slots=True)
class Validation:
    """One rule: the expression must be true. `name` is the rule's name, or its index as text."""

    name: str
    expression: Expression
    message: Text = NO_TEXT
    reason: Reason = Reason.INVALID
    for_each: ForEach | None = None
    field: Text = NO_TEXT
    allowed: Expression | None = None
    fix: Fix = NO_FIX


class PatchType(StrEnum):
    """What the expression of a mutation gives: a list of `JSONPatch{…}`, or an `Object{…}` to merge."""

    JSON_PATCH = "JSONPatch"
    APPLY_CONFIGURATION = "ApplyConfiguration"


@dataclass(frozen=True, slots=True)
class Mutation:
    """One change: a CEL expression that gives JSON Patch operations, or a part of the object to merge into it."""

    patch: Expression
    message: Text = NO_TEXT
    patch_type: PatchType = PatchType.JSON_PATCH


@dataclass(frozen=True, slots=True)
class AuditAnnotation:
    """A value for the audit log, published as `<policy>/<key>`; null or blank is left out."""

    key: str
    value: Expression


class Origin(StrEnum):
    """What kind of document a policy was read from; all but our own keep Kubernetes' own behaviour."""

    ADMISSION_POLICY = "AdmissionPolicy"
    VALIDATING_ADMISSION_POLICY = "ValidatingAdmissionPolicy"
    MUTATING_ADMISSION_POLICY = "MutatingAdmissionPolicy"
    VALIDATING_POLICY = "ValidatingPolicy"
    MUTATING_POLICY = "MutatingPolicy"
    CONSTRAINT = "Constraint"


@dataclass(frozen=True, slots=True)
class Policy:
    """One policy, ready to compile.

    A native policy becomes one Policy per binding: `binding` is its name and `binding_match` holds the binding's own
    `matchResources`, which must match too. `reads_params`: expressions know `params`, which is null without `params`.
    `background`: it judges what exists already, too. `generated_for` names the pod controllers for which it was made
    from a policy about pods.
    """

    name: str
    match: MatchResources
    origin: Origin = Origin.ADMISSION_POLICY
    location: Location = NOWHERE
    title: str = ""
    severity: Severity = Severity.MEDIUM
    category: str = ""
    docs: str = ""
    sources: tuple[str, ...] = ()
    why: Text = NO_TEXT
    releases: ReleaseRange | None = None
    failure_policy: FailurePolicy = FailurePolicy.FAIL
    actions: frozenset[Action] = frozenset({Action.DENY})
    on_existing_violation: Action | None = Action.WARN
    binding: str = ""
    binding_match: MatchResources | None = None
    background: bool = True
    generated_for: str = ""
    reads_params: bool = False
    params: Params | None = None
    match_conditions: tuple[NamedExpression, ...] = ()
    lookups: tuple[Lookup, ...] = ()
    variables: tuple[NamedExpression, ...] = ()
    validations: tuple[Validation, ...] = ()
    mutations: tuple[Mutation, ...] = ()
    audit_annotations: tuple[AuditAnnotation, ...] = ()
    reinvocation_policy: str = "Never"
    sensitive_fields: tuple[str, ...] = ()

    @property
    def native(self) -> bool:
        """Is it not our own kind, so that neither `onExistingViolation` nor our deletion rule apply."""
        return self.origin is not Origin.ADMISSION_POLICY

    @property
    def kyvernos(self) -> bool:
        """Is it Kyverno's, whose CEL is a little more lenient."""
        return self.origin in (Origin.VALIDATING_POLICY, Origin.MUTATING_POLICY)

    @property
    def conditions_read_variables(self) -> bool:
        """Do match conditions know `variables`: Kyverno's MutatingPolicy lets them."""
        return self.origin is Origin.MUTATING_POLICY
