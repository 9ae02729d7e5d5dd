from __future__ import annotations

from collections.abc import Callable

import pytest

from webhook.model.policy import Action, FailurePolicy, Origin, PatchType
from webhook.sources.policies import Loaded

Load = Callable[..., Loaded]

POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: known-variant}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [cozystack.io], apiVersions: [v1alpha1], operations: [CREATE], resources: [packages]}
  variables: [{name: v, expression: object.spec.variant}]
  validations: [{expression: variables.v == 'default', message: unknown variant, reason: Forbidden}]
  auditAnnotations: [{key: v, valueExpression: variables.v}]
status: {observedGeneration: 1}
"""

BINDING = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: everywhere}
spec:
  policyName: known-variant
  validationActions: [Deny, Audit]
  matchResources: {namespaceSelector: {matchLabels: {a: b}}}
"""


def test_a_policy_with_a_binding_loads_as_it_is(load: Load) -> None:
    loaded = load(POLICY, BINDING)
    assert not loaded.errors
    assert not loaded.notices
    (policy,) = loaded.policies
    assert (policy.name, policy.binding) == ("known-variant", "everywhere")
    assert policy.origin is Origin.VALIDATING_ADMISSION_POLICY
    assert policy.native
    assert policy.actions == {Action.DENY, Action.AUDIT}
    assert policy.on_existing_violation is None
    assert policy.binding_match is not None
    assert policy.binding_match.namespace_selector is not None
    assert (policy.validations[0].name, policy.validations[0].message.literal) == ("0", "unknown variant")


def test_v1beta1_is_read_too(load: Load) -> None:
    assert not load(POLICY.replace("/v1\n", "/v1beta1\n"), BINDING).errors


def test_each_binding_makes_a_policy_of_its_own(load: Load) -> None:
    second = BINDING.replace("everywhere", "softly").replace("[Deny, Audit]", "[Warn]")
    loaded = load(f"{BINDING}---\n{POLICY}---\n{second}")
    assert [(policy.binding, set(policy.actions)) for policy in loaded.policies] == [
        ("everywhere", {Action.DENY, Action.AUDIT}),
        ("softly", {Action.WARN}),
    ]


def test_a_policy_without_a_binding_does_nothing_and_is_said_to(load: Load) -> None:
    loaded = load(POLICY)
    assert not loaded.policies
    assert not loaded.errors
    (notice,) = loaded.notices
    assert str(notice) == (
        "p.yaml:3:18: metadata.name: policy `known-variant` does nothing: no ValidatingAdmissionPolicyBinding names it"
    )


def test_a_binding_without_its_policy_is_an_error_with_the_near_name(load: Load) -> None:
    loaded = load(POLICY, BINDING.replace("known-variant", "known-variants"))
    (error,) = loaded.errors
    assert (error.file, error.line, error.path) == ("q.yaml", 5, "spec.policyName")
    assert error.message == ("no ValidatingAdmissionPolicy is called `known-variants`; did you mean `known-variant`?")


def test_a_broken_policy_is_told_once_and_not_again_by_its_binding(load: Load) -> None:
    loaded = load(POLICY.replace("matchConstraints", "matchConstraint"), BINDING)
    assert [error.path for error in loaded.errors] == ["spec.matchConstraints", "spec.matchConstraint"]


def test_a_broken_binding_does_not_make_its_policy_look_unbound(load: Load) -> None:
    loaded = load(POLICY, BINDING.replace("[Deny, Audit]", "[Deny, Warn]"))
    assert [error.path for error in loaded.errors] == ["spec.validationActions"]
    assert not loaded.notices


@pytest.mark.parametrize(
    ("wrong", "right", "path", "message"),
    [
        ("  variables", "  paramKind: {apiVersion: v1}\n  variables", "spec.paramKind.kind", "missing, and required"),
        ("reason: Forbidden", "reason: Unauthorized", "spec.validations[0].reason", "got `Unauthorized`, want"),
        ("  validations:", "  severity: high\n  validations:", "spec.severity", "unknown field"),
        ("  validations:", "  mutations: []\n  validations:", "spec.mutations", "unknown field"),
        ("admissionregistration.k8s.io/v1\n", "v1\n", "apiVersion", "got `v1`, want"),
        ("message: unknown variant", 'message: "a\\nb"', "spec.validations[0].message", "has line breaks"),
    ],
)
def test_what_the_api_server_refuses_in_a_policy_is_refused(
    wrong: str, right: str, path: str, message: str, load: Load
) -> None:
    (error,) = load(POLICY.replace(wrong, right), BINDING).errors
    assert error.path == path
    assert error.message.startswith(message)


def with_params(policy: str, kind: str = "{apiVersion: v1, kind: ConfigMap}") -> str:
    return policy.replace("spec:\n", f"spec:\n  paramKind: {kind}\n", 1)


def test_a_binding_says_which_objects_are_the_params(load: Load) -> None:
    reference = "  paramRef: {selector: {matchLabels: {a: b}}, namespace: prod, parameterNotFoundAction: Allow}\n"
    loaded = load(with_params(POLICY), BINDING + reference)
    assert not loaded.errors
    (policy,) = loaded.policies
    assert policy.reads_params
    assert policy.params is not None
    assert (policy.params.kind, policy.params.namespace, policy.params.required) == ("ConfigMap", "prod", False)
    assert policy.params.selector is not None


def test_params_without_a_kind_or_without_a_reference_are_none(load: Load) -> None:
    reference = "  paramRef: {name: a, parameterNotFoundAction: Deny}\n"
    (without_kind,) = load(POLICY, BINDING + reference).policies
    assert (without_kind.reads_params, without_kind.params) == (False, None)
    (without_reference,) = load(with_params(POLICY), BINDING).policies
    assert (without_reference.reads_params, without_reference.params) == (True, None)


@pytest.mark.parametrize(
    ("reference", "path", "message"),
    [
        ("{parameterNotFoundAction: Deny}", "spec.paramRef", "names nothing, want `name` or `selector`"),
        ("{name: a}", "spec.paramRef.parameterNotFoundAction", "missing, and required"),
        (
            "{name: a, selector: {}, parameterNotFoundAction: Deny}",
            "spec.paramRef.selector",
            "cannot be given together with `name`",
        ),
    ],
)
def test_a_reference_says_which_objects_and_what_without(reference: str, path: str, message: str, load: Load) -> None:
    (error,) = load(with_params(POLICY), f"{BINDING}  paramRef: {reference}\n").errors
    assert (error.path, error.message) == (path, message)


@pytest.mark.parametrize("action", ["Fail", "ignore"])
def test_a_word_that_is_no_parameter_not_found_action_is_refused(action: str, load: Load) -> None:
    reference = f"  paramRef: {{name: a, parameterNotFoundAction: {action}}}\n"
    errors = {error.path: error.message for error in load(POLICY, BINDING + reference).errors}
    assert errors["spec.paramRef.parameterNotFoundAction"].endswith("want `Allow` or `Deny`")


MUTATING = """\
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: known-variant}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [cozystack.io], apiVersions: [v1alpha1], operations: [CREATE], resources: [packages]}
  reinvocationPolicy: IfNeeded
  failurePolicy: Ignore
  matchConditions: [{name: unset, expression: "!has(object.spec.variant)"}]
  variables: [{name: v, expression: "'default'"}]
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: "Object{spec: Object.spec{variant: variables.v}}"}
  - patchType: JSONPatch
    jsonPatch: {expression: "[JSONPatch{op: 'remove', path: '/spec/a'}]"}
"""

MUTATING_BINDING = """\
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: everywhere}
spec:
  policyName: known-variant
  matchResources: {namespaceSelector: {matchLabels: {a: b}}}
"""


@pytest.mark.parametrize("version", ["v1", "v1beta1", "v1alpha1"])
def test_a_mutating_policy_loads_as_it_is(version: str, load: Load) -> None:
    loaded = load(*(text.replace("/v1\n", f"/{version}\n") for text in (MUTATING, MUTATING_BINDING)))
    assert not loaded.errors
    assert not loaded.notices
    (policy,) = loaded.policies
    assert (policy.name, policy.binding, policy.reinvocation_policy) == ("known-variant", "everywhere", "IfNeeded")
    assert policy.origin is Origin.MUTATING_ADMISSION_POLICY
    assert policy.failure_policy is FailurePolicy.IGNORE
    assert policy.binding_match is not None
    assert [one.patch_type for one in policy.mutations] == [PatchType.APPLY_CONFIGURATION, PatchType.JSON_PATCH]
    assert (policy.match_conditions[0].name, policy.variables[0].name) == ("unset", "v")


def test_a_mutating_and_a_validating_policy_may_share_a_name_and_their_bindings_too(load: Load) -> None:
    loaded = load(f"{POLICY}---\n{BINDING}", f"{MUTATING}---\n{MUTATING_BINDING}")
    assert not loaded.errors
    assert [(one.origin, one.name, one.binding) for one in loaded.policies] == [
        (Origin.VALIDATING_ADMISSION_POLICY, "known-variant", "everywhere"),
        (Origin.MUTATING_ADMISSION_POLICY, "known-variant", "everywhere"),
    ]


def test_a_binding_finds_policies_of_its_own_kind_only(load: Load) -> None:
    loaded = load(POLICY, BINDING, MUTATING_BINDING)
    (error,) = loaded.errors
    assert error.message == "no MutatingAdmissionPolicy is called `known-variant`"


@pytest.mark.parametrize(
    ("wrong", "right", "path", "message"),
    [
        ("[CREATE]", "[DELETE]", "spec.matchConstraints.resourceRules[0].operations[0]", "got `DELETE` in a policy"),
        ("  reinvocationPolicy: IfNeeded\n", "", "spec.reinvocationPolicy", "missing, and required"),
        ("reinvocationPolicy: IfNeeded", "reinvocationPolicy: Always", "spec.reinvocationPolicy", "got `Always`, want"),
        ("  mutations:", "  validations: []\n  mutations:", "spec.validations", "unknown field"),
        ("  mutations:", "  auditAnnotations: []\n  mutations:", "spec.auditAnnotations", "unknown field"),
        ("JSONPatch\n", "JsonPatch\n", "spec.mutations[1].patchType", "got `JsonPatch`, want"),
    ],
)
def test_what_the_api_server_refuses_in_a_mutating_policy_is_refused(
    wrong: str, right: str, path: str, message: str, load: Load
) -> None:
    (error,) = load(MUTATING.replace(wrong, right), MUTATING_BINDING).errors
    assert error.path == path
    assert error.message.startswith(message)


def test_the_actions_of_a_validating_binding_have_no_place_in_a_mutating_one(load: Load) -> None:
    (error,) = load(MUTATING, MUTATING_BINDING + "  validationActions: [Deny]\n").errors
    assert (error.path, error.message.split(",")[0]) == (
        "spec.validationActions",
        "unknown field; known here: `policyName`",
    )
