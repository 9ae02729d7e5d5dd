from __future__ import annotations

from collections.abc import Callable

import pytest

from webhook.model.policy import Action, Origin
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
        ("  variables", "  paramKind: {apiVersion: v1, kind: ConfigMap}\n  variables", "spec.paramKind", "params come"),
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


def test_params_of_a_binding_are_refused_by_name(load: Load) -> None:
    reference = "  paramRef: {name: a, namespace: b, parameterNotFoundAction: Deny}\n"
    (error,) = load(POLICY, BINDING + reference).errors
    assert error.path == "spec.paramRef"
    assert error.message.startswith("params come in a later version")


@pytest.mark.parametrize("action", ["Fail", "null", "1"])
def test_a_word_that_is_no_parameter_not_found_action_is_refused(action: str, load: Load) -> None:
    reference = f"  paramRef: {{name: a, parameterNotFoundAction: {action}}}\n"
    errors = {error.path: error.message for error in load(POLICY, BINDING + reference).errors}
    assert errors["spec.paramRef.parameterNotFoundAction"].endswith("want `Allow` or `Deny`")


def test_mutating_policies_come_later_and_are_refused_by_name(load: Load) -> None:
    (error,) = load(POLICY.replace("Validating", "Mutating")).errors
    assert error.path == "kind"
    assert error.message.startswith("MutatingAdmissionPolicy comes in a later version")
