from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.cel.program import Activation, Builder, SlotTable
from webhook.model.policy import Action, FailurePolicy, Origin, Policy, Reason
from webhook.sources.formats.gatekeeper_parameters import literal
from webhook.sources.policies import Loaded

Load = Callable[..., Loaded]

TEMPLATE = """\
apiVersion: templates.gatekeeper.sh/v1
kind: ConstraintTemplate
metadata:
  name: owned
  annotations: {metadata.gatekeeper.sh/title: Objects have an owner}
spec:
  crd:
    spec:
      names: {kind: Owned}
      validation:
        openAPIV3Schema:
          properties:
            label: {type: string, default: owner}
            rules: {type: array, items: {properties: {strict: {default: true}}}}
  targets:
  - target: admission.k8s.gatekeeper.sh
    code:
    - engine: Rego
      source: {rego: "package owned"}
    - engine: K8sNativeValidation
      source:
        failurePolicy: Ignore
        generateVAP: true
        matchCondition: [{name: no-drafts, expression: "!has(object.metadata.annotations)"}]
        variables: [{name: labels, expression: "variables.anyObject.metadata.?labels.orValue({})"}]
        validations:
        - expression: variables.params.label in variables.labels
          messageExpression: "'want the label ' + variables.params.label"
"""
CONSTRAINT = """\
apiVersion: constraints.gatekeeper.sh/v1beta1
kind: Owned
metadata: {name: pods}
spec:
  enforcementAction: warn
  match:
    kinds: [{apiGroups: [''], kinds: [Pod, Service]}, {apiGroups: [apps], kinds: ['*']}]
    namespaces: [a, 'b-*']
    excludedNamespaces: ['*-free']
    name: '*x*'
    scope: Namespaced
    labelSelector: {matchLabels: {a: b}}
    namespaceSelector: {matchExpressions: [{key: c, operator: Exists}]}
    source: Original
  parameters: {rules: [{name: a}, {strict: false}]}
"""
NOTHING = "apiVersion: constraints.gatekeeper.sh/v1beta1\nkind: Owned\nmetadata: {name: bare}\n"


def one(loaded: Loaded) -> Policy:
    assert not loaded.errors
    (policy,) = loaded.policies
    return policy


def test_a_constraint_makes_a_policy_of_its_template(load: Load) -> None:
    policy = one(load(TEMPLATE, CONSTRAINT))
    assert (policy.name, policy.title, policy.origin) == ("Owned/pods", "Objects have an owner", Origin.CONSTRAINT)
    assert policy.actions == {Action.WARN}
    assert policy.failure_policy is FailurePolicy.IGNORE
    assert policy.location.file == "q.yaml"
    assert policy.validations[0].reason is Reason.FORBIDDEN
    assert [variable.name for variable in policy.variables] == ["anyObject", "params", "labels"]


def test_its_match_becomes_rules_selectors_and_conditions(load: Load) -> None:
    policy = one(load(TEMPLATE, CONSTRAINT))
    (rule,) = policy.match.resource_rules
    assert (rule.api_groups, rule.operations, rule.scope) == (("", "apps"), ("CREATE", "UPDATE"), "Namespaced")
    assert policy.match.object_selector
    assert policy.match.namespace_selector
    assert {condition.name: condition.expression.text for condition in policy.match_conditions} == {
        "kinds": "(request.kind.group in [''] && request.kind.kind in ['Pod', 'Service']) || "
        "(request.kind.group in ['apps'])",
        "namespaces": "!has(request.namespace) || request.namespace == 'a' || request.namespace.startsWith('b-')",
        "excludedNamespaces": "!has(request.namespace) || !(request.namespace.endsWith('-free'))",
        "name": "(has(request.name) && request.name.contains('x')) || (object != null && "
        "has(object.metadata.generateName) && object.metadata.generateName.contains('x'))",
        "no-drafts": "!has(object.metadata.annotations)",
    }


def test_a_constraint_that_says_nothing_is_about_everything(load: Load) -> None:
    policy = one(load(TEMPLATE, NOTHING))
    assert policy.actions == {Action.DENY}
    assert policy.match.resource_rules[0].api_groups == ("*",)
    assert [condition.name for condition in policy.match_conditions] == ["no-drafts"]
    assert policy.variables[1].expression.text == "dyn(null)"


def test_parameters_have_the_defaults_of_the_schema(load: Load) -> None:
    policy = one(load(TEMPLATE, CONSTRAINT))
    wanted = {"label": "owner", "rules": [{"name": "a", "strict": True}, {"strict": False}]}
    assert evaluated(policy.variables[1].expression.text) == wanted


@pytest.mark.parametrize(
    ("action", "wanted"),
    [("deny", {Action.DENY}), ("dryrun", {Action.AUDIT}), ("scoped", {Action.WARN, Action.DENY})],
)
def test_the_enforcement_action_says_what_follows(load: Load, action: str, wanted: set[Action]) -> None:
    scoped = (
        "  scopedEnforcementActions:\n"
        "  - {action: warn, enforcementPoints: [{name: validation.gatekeeper.sh}]}\n"
        "  - {action: deny, enforcementPoints: [{name: '*'}]}\n"
        "  - {action: dryrun, enforcementPoints: [{name: audit.gatekeeper.sh}]}\n"
    )
    text = CONSTRAINT.replace("enforcementAction: warn", f"enforcementAction: {action}")
    assert one(load(TEMPLATE, text + scoped)).actions == wanted


def test_a_constraint_for_other_enforcement_points_does_nothing_and_that_is_said(load: Load) -> None:
    loaded = load(TEMPLATE, CONSTRAINT.replace("enforcementAction: warn", "enforcementAction: scoped"))
    assert not loaded.policies
    assert [notice.message for notice in loaded.notices] == [
        "`Owned/pods` does nothing here: no action is for validation.gatekeeper.sh"
    ]


def test_a_template_without_a_constraint_does_nothing_and_that_is_said(load: Load) -> None:
    loaded = load(TEMPLATE)
    assert (loaded.policies, loaded.errors) == ((), ())
    assert [notice.path for notice in loaded.notices] == ["metadata.name"]


def test_a_constraint_without_a_template_is_an_error_with_the_near_name(load: Load) -> None:
    (error,) = load(TEMPLATE, CONSTRAINT, CONSTRAINT.replace("Owned", "Ownd")).errors
    assert error.message == "no ConstraintTemplate defines `Ownd`; did you mean `Owned`?"


def test_a_broken_template_is_told_once_and_not_again_by_its_constraints(load: Load) -> None:
    loaded = load(TEMPLATE.replace("failurePolicy: Ignore", "failurePolicy: Never"), CONSTRAINT)
    assert [error.path for error in loaded.errors] == ["spec.targets[0].code[1].source.failurePolicy"]
    assert loaded.errors[0].line == 22


def test_a_template_is_called_as_its_constraints_are(load: Load) -> None:
    (error,) = load(TEMPLATE.replace("  name: owned", "  name: owner"), CONSTRAINT).errors
    assert str(error) == "p.yaml:4:9: metadata.name: got `owner`, want `owned`, as its constraints are"


def test_two_templates_can_have_constraints_of_one_name_and_one_template_cannot(load: Load) -> None:
    other = TEMPLATE.replace("Owned", "Kept").replace("name: owned", "name: kept")
    constraints = f"{CONSTRAINT}---\n{CONSTRAINT.replace('Owned', 'Kept')}"
    assert [policy.name for policy in load(TEMPLATE, other, constraints).policies] == ["Owned/pods", "Kept/pods"]
    (error,) = load(TEMPLATE, f"{CONSTRAINT}---\n{CONSTRAINT}").errors
    assert "`pods` is taken already" in error.message


@pytest.mark.parametrize(
    ("wrong", "right", "path", "message"),
    [
        ("engine: K8sNativeValidation", "engine: Other", "spec.targets[0]", "Rego is not read here"),
        ("matchCondition:", "matchConditions:", "spec.targets[0].code[1].source.matchConditions", "`matchCondition`"),
        ("name: labels,", "name: params,", "spec.targets[0].code[1].source.variables[0].name", "has a meaning"),
    ],
)
def test_what_a_template_cannot_say_is_refused(load: Load, wrong: str, right: str, path: str, message: str) -> None:
    (error,) = load(TEMPLATE.replace(wrong, right), CONSTRAINT).errors
    assert error.path == path
    assert message in error.message


@pytest.mark.parametrize(
    ("wrong", "right", "path"),
    [
        ("source: Original", "source: Generated", "spec.match.source"),
        ("scope: Namespaced", "scoope: Namespaced", "spec.match.scoope"),
        ("enforcementAction: warn", "enforcementAction: nothing", "spec.enforcementAction"),
        ("[a, 'b-*']", '["a\' || true"]', "spec.match.namespaces[0]"),
    ],
)
def test_what_a_constraint_cannot_say_is_refused(load: Load, wrong: str, right: str, path: str) -> None:
    (error,) = load(TEMPLATE, CONSTRAINT.replace(wrong, right)).errors
    assert error.path == path


@pytest.mark.parametrize("group", ["mutations", "expansion", "config", "externaldata"])
def test_other_kinds_of_gatekeeper_are_refused_by_name(load: Load, group: str) -> None:
    loaded = load(TEMPLATE, NOTHING, f"apiVersion: {group}.gatekeeper.sh/v1\nkind: Assign\nmetadata: {{name: a}}\n")
    assert [error.message for error in loaded.errors] == [
        "`Assign` of Gatekeeper is not read: want a `ConstraintTemplate` or a constraint"
    ]


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.text(max_size=5), parts, max_size=3),
    max_leaves=8,
)


def evaluated(text: str) -> Any:
    builder = Builder({})
    builder.function("f", text, want="dyn")
    return builder.build().link(SlotTable()).functions["f"](Activation(size=0))


@given(VALUES)
def test_any_parameters_can_be_written_in_cel(value: Any) -> None:
    assert evaluated(literal(value)) == value
