from __future__ import annotations

from collections.abc import Callable

import pytest

from webhook.model.policy import Action, FailurePolicy, Location, Origin, Reason, Severity
from webhook.model.release import Minor
from webhook.model.selector import Requirement
from webhook.sources.policies import Loaded

SpecErrors = Callable[[str], dict[str, str]]
Load = Callable[..., Loaded]

WHOLE = """\
apiVersion: cozyguard.io/v1alpha1
kind: AdmissionPolicy
metadata:
  name: no-host-devices
spec:
  title: No HostDevices gate
  severity: high
  category: gpu
  releases: ">=1.5"
  why: otherwise no pod sees a GPU
  docs: https://example.org/gates
  sources: ["packages/gates/values.yaml, v1.6.2", "a page"]
  failurePolicy: Ignore
  validationActions: [Warn, Audit]
  onExistingViolation: Deny
  reinvocationPolicy: IfNeeded
  matchConstraints:
    resourceRules:
    - {apiGroups: [kubevirt.io], apiVersions: ["*"], resources: [kubevirts], operations: [CREATE, UPDATE]}
    excludeResourceRules:
    - {apiGroups: [kubevirt.io], apiVersions: [v1], resources: [kubevirts/status], operations: ["*"], scope: Namespaced,
       resourceNames: [kubevirt]}
    namespaceSelector: {matchLabels: {team: gpu}, matchExpressions: [{key: a/b, operator: Exists}]}
    matchPolicy: Exact
  matchConditions:
  - {name: not-flux, expression: "request.userInfo.username != 'flux'"}
  lookups:
  - {name: gpu, apiVersion: cozystack.io/v1alpha1, kind: Package, objectName: cozystack.gpu-operator}
  - {name: pods, apiVersion: v1, kind: Pod, namespaceExpression: object.metadata.namespace}
  variables:
  - {name: container, expression: "lookups.gpu != null"}
  validations:
  - name: gate
    forEach: {in: object.spec.gates, as: gate, at: i}
    expression: |

      !variables.container ||
        gate != 'HostDevices'
    message: " not with GPUs in containers "
    messageExpression: "'gate ' + gate"
    reason: Forbidden
    field: spec.gates[@]
    allowedExpression: "['GPU']"
    fix:
      text: remove the gate
      patchExpression: 'variables.patch'
  - expression: >-
      object.x == 1
    fieldExpression: "'spec.x'"
  mutations:
  - {patchType: JSONPatch, jsonPatch: {expression: "[]"}, message: the default}
  auditAnnotations:
  - {key: gate, valueExpression: "'x'"}
  sensitiveFields: [spec.token]
"""


def test_every_field_arrives(load: Load) -> None:
    loaded = load(WHOLE)
    assert not loaded.errors
    (policy,) = loaded.policies
    assert (policy.name, policy.origin) == ("no-host-devices", Origin.ADMISSION_POLICY)
    assert (policy.title, policy.severity, policy.category) == ("No HostDevices gate", Severity.HIGH, "gpu")
    assert (policy.docs, policy.why.literal) == ("https://example.org/gates", "otherwise no pod sees a GPU")
    assert policy.sources == ("packages/gates/values.yaml, v1.6.2", "a page")
    assert policy.releases is not None
    assert Minor(1, 5) in policy.releases
    assert policy.failure_policy is FailurePolicy.IGNORE
    assert policy.actions == {Action.WARN, Action.AUDIT}
    assert policy.on_existing_violation is Action.DENY
    assert policy.reinvocation_policy == "IfNeeded"
    assert policy.sensitive_fields == ("spec.token",)
    assert policy.match.resource_rules[0].api_versions == ("*",)
    excluded = policy.match.exclude_resource_rules[0]
    assert (excluded.scope, excluded.resource_names) == ("Namespaced", ("kubevirt",))
    assert policy.match.namespace_selector is not None
    assert policy.match.namespace_selector.requirements == (
        Requirement("team", "In", ("gpu",)),
        Requirement("a/b", "Exists"),
    )
    assert policy.match.match_policy == "Exact"
    assert policy.match_conditions[0].name == "not-flux"
    gpu, pods = policy.lookups
    assert (gpu.kind, gpu.object_name.literal) == ("Package", "cozystack.gpu-operator")
    assert not pods.object_name
    assert pods.namespace.expression is not None
    gate, unnamed = policy.validations
    assert gate.for_each is not None
    assert (gate.name, gate.for_each.as_, gate.for_each.at) == ("gate", "gate", "i")
    assert gate.reason is Reason.FORBIDDEN
    assert gate.message.literal == "not with GPUs in containers"
    assert gate.message.expression is not None
    assert gate.field.literal == "spec.gates[@]"
    assert gate.allowed is not None
    assert (gate.fix.text.literal, bool(gate.fix.patch)) == ("remove the gate", True)
    assert (unnamed.name, unnamed.reason) == ("1", Reason.INVALID)
    assert policy.mutations[0].message.literal == "the default"
    assert policy.audit_annotations[0].key == "gate"


def test_what_is_left_out_has_the_documented_default(load: Load) -> None:
    (policy,) = load("""\
        apiVersion: cozyguard.io/v1alpha1
        kind: AdmissionPolicy
        metadata: {name: p}
        spec:
          matchConstraints:
            resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
          validations: [{expression: "true"}]
        """).policies
    assert policy.severity is Severity.MEDIUM
    assert policy.actions == {Action.DENY}
    assert policy.failure_policy is FailurePolicy.FAIL
    assert policy.on_existing_violation is Action.WARN
    assert policy.reinvocation_policy == "Never"
    assert policy.match.match_policy == "Equivalent"
    assert policy.releases is None


def test_an_expression_is_placed_where_its_own_text_begins(load: Load) -> None:
    (policy,) = load(WHOLE).policies
    gate, folded = policy.validations
    lines = WHOLE.splitlines()

    def text_at(location: Location) -> str:
        return lines[location.line - 1][location.column - 1 :]

    assert text_at(gate.expression.location) == "!variables.container ||"
    assert text_at(folded.expression.location) == "object.x == 1"
    assert gate.for_each is not None
    assert text_at(gate.for_each.in_.location).startswith("object.spec.gates,")
    assert gate.fix.patch is not None
    assert text_at(gate.fix.patch.location) == "variables.patch'"
    assert text_at(policy.variables[0].expression.location).startswith("lookups.gpu")
    assert gate.expression.location.path == "spec.validations[0].expression"
    assert text_at(policy.location) == "no-host-devices"


def test_null_counts_as_absent_as_the_api_server_reads_it(spec_errors: SpecErrors) -> None:
    assert not spec_errors("title:\nseverity: ~\nlookups: null\nvalidations: [{expression: a, fix: null}]")


def test_an_unknown_field_is_refused_at_its_own_place_with_the_near_name(load: Load) -> None:
    loaded = load(WHOLE.replace("    message: ", "    mesage: "))
    (error,) = loaded.errors
    line = next(number for number, text in enumerate(WHOLE.splitlines(), 1) if "    message:" in text)
    assert (error.line, error.column) == (line, 5)
    assert error.path == "spec.validations[0].mesage"
    assert error.message == "unknown field; did you mean `message`?"


def test_an_unknown_field_near_to_none_lists_what_is_known(spec_errors: SpecErrors) -> None:
    assert spec_errors("validations: [{expression: a, fix: {zzz: 1}}]") == {
        "validations[0].fix.zzz": "unknown field; known here: `text`, `textExpression`, `patchExpression`"
    }


def test_params_need_a_kind(spec_errors: SpecErrors) -> None:
    errors = spec_errors("paramRef: {name: a, parameterNotFoundAction: Deny}")
    assert errors["paramRef"] == "of what kind? want `paramKind` too"


@pytest.mark.parametrize(
    ("mutation", "field", "message"),
    [
        ("patchType: ApplyConfiguration", "applyConfiguration", "missing, and required"),
        ("patchType: JSONPatch", "jsonPatch", "missing, and required"),
        (
            "patchType: JSONPatch, jsonPatch: {expression: '[]'}, applyConfiguration: {expression: 'Object{}'}",
            "applyConfiguration",
            "cannot be given with patchType `JSONPatch`",
        ),
    ],
)
def test_the_type_of_a_mutation_says_which_expression_it_has(
    mutation: str, field: str, message: str, spec_errors: SpecErrors
) -> None:
    assert spec_errors(f"mutations: [{{{mutation}}}]")[f"mutations[0].{field}"] == message


@pytest.mark.parametrize(
    ("lines", "path", "message"),
    [
        ("severity: hihg", "severity", "got `hihg`, want `low`, `medium`, `high` or `critical`; did you mean `high`?"),
        ("severity: 5", "severity", "got `5`, want `low`, `medium`, `high` or `critical`"),
        ("title: yes", "title", "got `true`, want text; put it in quotes"),
        ('title: "a\\nb"', "title", "has line breaks, want one line"),
        ("why: ''", "why", "empty, want text"),
        ("docs: example.org", "docs", "got `example.org`, want a URL such as `https://cozystack.io/docs/…`"),
        ("sources: a page", "sources", "got `a page`, want a list"),
        ("sources: ['']", "sources[0]", "empty, want text"),
        ('releases: ">=1.5,x"', "releases", "got `x`, want comparisons such as `>=1.5,<1.7`"),
        ("onExistingViolation: Audit", "onExistingViolation", "got `Audit`, want `Warn` or `Deny`"),
        ("failurePolicy: fail", "failurePolicy", "got `fail`, want `Fail` or `Ignore`; did you mean `Fail`?"),
        ("validationActions: []", "validationActions", "empty, want at least one entry"),
        ("validationActions: [Deny, Warn]", "validationActions", "got `Deny` and `Warn`, want one of them"),
        ("validationActions: [Audit, Audit]", "validationActions", "`Audit` stands there twice"),
        ("validationActions: Deny", "validationActions", "got `Deny`, want a list"),
        ("validations: []", "", "says nothing, want `validations`, `mutations` or `auditAnnotations`"),
        ("validations: [{}]", "validations[0].expression", "missing, and required"),
        ("validations: [{expression: ' '}]", "validations[0].expression", "empty, want text"),
        ("validations: [x]", "validations[0]", "got `x`, want a mapping"),
        ("validations: [{expression: a, reason: Gone}]", "validations[0].reason", "got `Gone`, want `Forbidden`"),
        ("validations: [{expression: a, name: a b}]", "validations[0].name", "got `a b`, want at most 63 letters"),
        ("validations: [{expression: a, name: '1'}]", "validations[0].name", "`1` is what a rule without a name"),
        ("validations: [{expression: a, field: 'a['}]", "validations[0].field", "cannot read `a[` as a field path"),
        ("validations: [{expression: a, field: 'a[@]'}]", "validations[0].field", "`[@]` is the current index"),
        (
            "validations: [{expression: a, field: a, fieldExpression: b}]",
            "validations[0].fieldExpression",
            "cannot be given together with `field`",
        ),
        (
            "validations: [{expression: a, name: x}, {expression: b, name: x}]",
            "validations[1].name",
            "`x` is taken already by `validations[0]`",
        ),
        (
            "validations: [{expression: a, forEach: {in: b, as: object}}]",
            "validations[0].forEach.as",
            "`object` has a meaning in every expression",
        ),
        (
            "validations: [{expression: a, forEach: {in: b, as: x, at: x}}]",
            "validations[0].forEach.at",
            "`x` is the element already (`as`)",
        ),
        ("variables: [{name: if, expression: a}]", "variables[0].name", "`if` is a reserved word of CEL"),
        ("variables: [{name: a-b, expression: a}]", "variables[0].name", "got `a-b`, want a CEL identifier"),
        (
            "variables: [{name: a, expression: a}, {name: a, expression: b}]",
            "variables[1].name",
            "`a` is taken already by `variables[0]`",
        ),
        (
            "lookups: [{name: a, apiVersion: v1, kind: Pod, objectName: x, labelSelector: {}}]",
            "lookups[0].labelSelector",
            "cannot be given together with `objectName`",
        ),
        (
            "lookups: [{name: a, apiVersion: a/b/c, kind: Pod}]",
            "lookups[0].apiVersion",
            "got `a/b`, want a DNS name",
        ),
        ("lookups: [{name: a, apiVersion: v1, kind: 'a b'}]", "lookups[0].kind", "got `a b`, want a kind"),
        (
            "mutations: [{jsonPatch: {expression: '[]'}}]",
            "mutations[0].patchType",
            "missing, and required",
        ),
        (
            "auditAnnotations: [{key: a, valueExpression: b}, {key: a, valueExpression: b}]",
            "auditAnnotations[1].key",
            "`a` is taken already by `auditAnnotations[0]`",
        ),
    ],
)
def test_a_wrong_value_is_told_with_what_was_expected(
    lines: str, path: str, message: str, spec_errors: SpecErrors
) -> None:
    errors = spec_errors(lines)
    assert list(errors) == [path]
    assert errors[path].startswith(message)


def test_a_policy_that_mutates_cannot_name_delete(spec_errors: SpecErrors) -> None:
    errors = spec_errors("""\
        matchConstraints:
          resourceRules: [{apiGroups: [a], apiVersions: [v1], resources: [a], operations: [CREATE, DELETE]}]
        mutations: [{patchType: JSONPatch, jsonPatch: {expression: "[]"}}]
        """)
    assert errors == {
        "matchConstraints.resourceRules[0].operations[1]": "got `DELETE` in a policy with mutations, "
        "want `CREATE`, `UPDATE` or `CONNECT`, or two policies"
    }


def test_more_than_64_match_conditions_are_refused(spec_errors: SpecErrors) -> None:
    conditions = ", ".join(f"{{name: c{index}, expression: a}}" for index in range(65))
    assert spec_errors(f"matchConditions: [{conditions}]") == {"matchConditions": "65 entries, want at most 64"}


def test_a_long_value_expression_of_an_audit_annotation_is_refused(spec_errors: SpecErrors) -> None:
    errors = spec_errors(f"auditAnnotations: [{{key: a, valueExpression: {'a' * 5121}}}]")
    assert errors == {"auditAnnotations[0].valueExpression": "5121 bytes, want at most 5120"}


def test_a_namespace_is_refused_because_the_kind_is_cluster_scoped(load: Load) -> None:
    (error,) = load(WHOLE.replace("  name: no-host-devices", "  name: no-host-devices\n  namespace: a")).errors
    assert (error.path, error.message) == (
        "metadata.namespace",
        "this kind is cluster-scoped and has no namespace",
    )


def test_what_a_live_cluster_adds_is_read_over(load: Load) -> None:
    metadata = "  name: no-host-devices\n  uid: x\n  generation: 2\n  creationTimestamp: '2026-01-01T00:00:00Z'"
    assert not load(WHOLE.replace("  name: no-host-devices", metadata) + "status: {conditions: []}\n").errors


def test_faults_of_fields_and_between_fields_come_together(spec_errors: SpecErrors) -> None:
    errors = spec_errors("""\
        titel: x
        variables: [{name: a, expression: 5}, {name: a, expression: b}]
        validations: [{expression: a, field: b, fieldExpression: 7}, {}]
        """)
    assert list(errors) == [
        "titel",
        "variables[0].expression",
        "variables[1].name",
        "validations[0].fieldExpression",
        "validations[1].expression",
    ]


def test_a_path_is_no_novel(spec_errors: SpecErrors) -> None:
    errors = spec_errors(f"validations: [{{expression: 'true', field: {'a.' * 600}b}}]")
    assert errors == {"validations[0].field": "1201 characters, want at most 1024"}
