from __future__ import annotations

from collections.abc import Callable

import pytest

from webhook.model.policy import Action, Origin, PatchType, Policy, Severity
from webhook.sources.policies import Loaded

Load = Callable[..., Loaded]

PODS = "{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE, UPDATE]}"
VALIDATING = f"""\
apiVersion: policies.kyverno.io/v1
kind: ValidatingPolicy
metadata:
  name: owned
  annotations:
    policies.kyverno.io/title: Workloads have an owner
    policies.kyverno.io/severity: high
    policies.kyverno.io/category: Ownership
spec:
  autogen: {{podControllers: {{controllers: []}}}}
  evaluation: {{mode: Kubernetes, admission: {{enabled: true}}, background: {{enabled: false}}}}
  webhookConfiguration: {{timeoutSeconds: 20}}
  failurePolicy: Ignore
  validationActions: [Audit, Warn]
  matchConstraints:
    resourceRules: [{PODS}]
    excludeResourceRules: [{PODS.replace("[pods]", "[pods], resourceNames: [free]")}]
  matchConditions: [{{name: has labels, expression: has(object.metadata.labels)}}]
  variables: [{{name: owner, expression: "object.metadata.labels.?owner.orValue('')"}}]
  validations:
  - expression: variables.owner != ''
    message: |
      a label
      owner
    reason: Forbidden
  auditAnnotations: [{{key: owner, valueExpression: variables.owner}}]
status: {{conditionStatus: {{ready: true}}}}
"""
MUTATING = f"""\
apiVersion: policies.kyverno.io/v1alpha1
kind: MutatingPolicy
metadata: {{name: labelled}}
spec:
  autogen: {{podControllers: {{controllers: []}}}}
  evaluation: {{mutateExisting: {{enabled: false}}, skipBackgroundRequests: true}}
  matchConstraints: {{resourceRules: [{PODS}]}}
  matchConditions: [{{name: bare, expression: variables.bare}}]
  variables: [{{name: bare, expression: "!has(object.metadata.labels)"}}]
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: "Object{{metadata: Object.metadata{{labels: Object.metadata.labels{{owner: 'nobody'}}}}}}"
  reinvocationPolicy: IfNeeded
"""


def one(loaded: Loaded) -> Policy:
    assert not loaded.errors
    (policy,) = loaded.policies
    return policy


def test_a_validating_policy_loads_as_it_is(load: Load) -> None:
    policy = one(load(VALIDATING))
    assert (policy.name, policy.origin, policy.native) == ("owned", Origin.VALIDATING_POLICY, True)
    assert (policy.title, policy.category, policy.severity) == ("Workloads have an owner", "Ownership", Severity.HIGH)
    assert policy.actions == {Action.AUDIT, Action.WARN}
    assert policy.on_existing_violation is None
    assert not policy.background
    assert policy.match.exclude_resource_rules[0].resource_names == ("free",)
    assert policy.validations[0].message.literal == "a label owner"
    assert (policy.audit_annotations[0].key, policy.match_conditions[0].name) == ("owner", "has labels")


def test_what_a_broken_rule_asks_for_is_a_denial_where_nothing_is_said(load: Load) -> None:
    policy = one(load(VALIDATING.replace("  validationActions: [Audit, Warn]\n", "")))
    assert policy.actions == {Action.DENY}


def test_a_mutating_policy_loads_as_it_is(load: Load) -> None:
    policy = one(load(MUTATING))
    assert (policy.origin, policy.reinvocation_policy) == (Origin.MUTATING_POLICY, "IfNeeded")
    assert policy.mutations[0].patch_type is PatchType.APPLY_CONFIGURATION


def test_a_namespaced_policy_holds_in_its_own_namespace_and_is_called_after_it(load: Load) -> None:
    text = VALIDATING.replace("kind: V", "kind: NamespacedV").replace("  name: owned", "  name: owned\n  namespace: a")
    policy = one(load(text))
    assert policy.name == "a/owned"
    assert policy.binding_match is not None
    assert policy.binding_match.namespace_selector is not None
    assert policy.binding_match.namespace_selector.matches({"kubernetes.io/metadata.name": "a"})
    assert policy.binding_match.resource_rules[0].scope == "Namespaced"


def test_a_namespace_of_a_cluster_scoped_policy_counts_for_nothing_and_that_is_said(load: Load) -> None:
    loaded = load(VALIDATING.replace("  name: owned", "  name: owned\n  namespace: a"))
    assert (one(loaded).name, one(loaded).binding_match) == ("owned", None)
    (notice,) = loaded.notices
    assert str(notice).startswith("p.yaml:5:14: metadata.namespace: counts for nothing")


def test_policies_of_two_namespaces_and_of_two_kinds_can_have_one_name(load: Load) -> None:
    text = VALIDATING.replace("kind: V", "kind: NamespacedV").replace("  name: owned", "  name: owned\n  namespace: a")
    other = text.replace("namespace: a", "namespace: b")
    loaded = load(f"{text}---\n{other}", VALIDATING, MUTATING.replace("labelled", "owned"))
    assert not loaded.errors
    assert [policy.name for policy in loaded.policies] == ["a/owned", "b/owned", "owned", "owned"]


@pytest.mark.parametrize(
    ("wrong", "right", "path", "message"),
    [
        ("mode: Kubernetes", "mode: JSON", "spec.evaluation.mode", "got `JSON`, want `Kubernetes`"),
        ("enabled: true}", "enabled: false}", "spec.evaluation.admission.enabled", "want a policy that is asked"),
        ("timeoutSeconds: 20", "timeoutSeconds: 31", "spec.webhookConfiguration.timeoutSeconds", "want at most 30"),
        ("  failurePolicy", "  paramKind: {apiVersion: v1, kind: A}\n  failurePolicy", "spec.paramKind", "no params"),
        ("  failurePolicy", "  generate: []\n  failurePolicy", "spec.generate", "unknown field"),
    ],
)
def test_what_cannot_be_honoured_is_refused_where_it_stands(
    load: Load, wrong: str, right: str, path: str, message: str
) -> None:
    (error,) = load(VALIDATING.replace(wrong, right, 1)).errors
    assert error.path == path
    assert message in error.message
    assert error.line


@pytest.mark.parametrize(
    ("wrong", "right", "path"),
    [
        ("mutateExisting: {enabled: false}", "mutateExisting: {enabled: true}", "evaluation.mutateExisting.enabled"),
        ("skipBackgroundRequests: true", "useServerSideApply: true", "evaluation.useServerSideApply"),
        ("  mutations:", "  targetMatchConditions: []\n  mutations:", "targetMatchConditions"),
        ("  mutations:", "  targetMatchConstraints: {}\n  mutations:", "targetMatchConstraints"),
        ("CREATE, UPDATE", "CREATE, DELETE", "matchConstraints.resourceRules[0].operations[1]"),
    ],
)
def test_a_mutating_policy_changes_what_is_asked_about_alone(load: Load, wrong: str, right: str, path: str) -> None:
    (error,) = load(MUTATING.replace(wrong, right, 1)).errors
    assert error.path == f"spec.{path}"


@pytest.mark.parametrize("kind", ["ImageValidatingPolicy", "GeneratingPolicy", "DeletingPolicy"])
def test_other_kinds_of_kyverno_are_refused_by_name(load: Load, kind: str) -> None:
    (error,) = load(VALIDATING.replace("kind: ValidatingPolicy", f"kind: {kind}")).errors
    assert f"`{kind}` of Kyverno is not read" in error.message


def test_a_cluster_policy_is_refused_even_beside_others_in_a_folder(load: Load) -> None:
    loaded = load(VALIDATING, "apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: a}\n")
    assert [error.message.partition(":")[0] for error in loaded.errors] == ["`ClusterPolicy` of Kyverno is not read"]
    assert loaded.policies


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("resource.Post('v1', 'pods', {}) != null", "`resource.Post` sends a request"),
        ("globalContext.get('a', '') != null", "`globalContext.get` reads what Kyverno keeps"),
        ("http.Get('http://a') == 1", "`http.Get` asks another server"),
        ("image.GetMetadata ( 'a' ).x", "`image.GetMetadata` asks an image registry"),
        ("1 < 2 && image('a').registry() == 'b'", "`image` is a function of Kyverno's own"),
        ("exceptions.allowedImages.size() > 0", "`exceptions` tells of Kyverno's exceptions"),
        ("time.now() > timestamp('2026-01-01T00:00:00Z')", "`time.now` differs from one evaluation to the next"),
        ("math.greatest(1, 2) == 2", "`math.greatest` is an extension of CEL"),
    ],
)
def test_functions_that_cannot_be_had_are_named_with_the_reason(load: Load, expression: str, told: str) -> None:
    (error,) = load(VALIDATING.replace("variables.owner != ''", expression)).errors
    assert error.path == "spec.validations[0].expression"
    assert error.message.startswith(told)


@pytest.mark.parametrize(
    "expression",
    [
        "object.metadata.name != 'resource.Get()' // http.Get()",
        "object.spec.containers.all(image, image.matches('a'))",
        "object.image.contains('x') && object.exceptions.x && variables.image(1)",
        "object.names.all(resource, resource.contains('a'))",
    ],
)
def test_what_only_looks_like_such_a_function_is_left_alone(load: Load, expression: str) -> None:
    assert not load(VALIDATING.replace("variables.owner != ''", expression)).errors
