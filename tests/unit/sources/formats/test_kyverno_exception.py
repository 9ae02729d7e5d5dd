from __future__ import annotations

from collections.abc import Callable

import pytest

from webhook.sources.policies import Loaded

Load = Callable[..., Loaded]

POLICY = """\
apiVersion: policies.kyverno.io/v1
kind: ValidatingPolicy
metadata: {name: p}
spec:
  autogen: {podControllers: {controllers: [jobs]}}
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
  matchConditions: [{name: a, expression: object.spec.a}]
  validations: [{expression: "false"}]
"""
EXCEPTION = """\
apiVersion: policies.kyverno.io/v1
kind: PolicyException
metadata: {name: e, namespace: ops}
spec:
  policyRefs: [{kind: ValidatingPolicy, name: p}, {kind: MutatingPolicy, name: p}]
  matchConditions:
  - {name: b, expression: object.spec.b || object.spec.c // comment}
  - {name: d, expression: object.spec.d}
  reportResult: pass
  properties: {ticket: "1"}
"""


def conditions(loaded: Loaded) -> list[list[str]]:
    assert not loaded.errors
    return [[one.expression.text for one in policy.match_conditions] for policy in loaded.policies]


def test_an_exception_is_a_condition_of_the_policies_that_it_names(load: Load) -> None:
    excepted = "!((object.spec.b || object.spec.c // comment\n) && (object.spec.d\n))"
    assert conditions(load(EXCEPTION, POLICY, POLICY.replace("name: p", "name: q"))) == [
        ["object.spec.a", excepted],
        ["object.spec.template.spec.a", excepted],
        ["object.spec.a"],
        ["object.spec.template.spec.a"],
    ]


def test_one_without_conditions_excepts_everything(load: Load) -> None:
    text = EXCEPTION.partition("  matchConditions")[0]
    assert conditions(load(text, POLICY))[0] == ["object.spec.a", "false"]


def test_one_from_a_policy_that_is_not_there_counts_for_nothing_and_that_is_said(load: Load) -> None:
    loaded = load(EXCEPTION.replace("kind: MutatingPolicy, name: p", "kind: ValidatingPolicy, name: pp"), POLICY)
    (notice,) = loaded.notices
    assert notice.path == "spec.policyRefs[1].name"
    assert notice.message == "counts for nothing: no ValidatingPolicy is called `pp`; did you mean `p`?"


def test_two_namespaces_can_have_exceptions_of_one_name(load: Load) -> None:
    assert not load(EXCEPTION, EXCEPTION.replace("ops", "dev"), POLICY).errors


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("images: [a]", "excepts parts of objects"),
        ("allowedValues: [a]", "excepts parts of objects"),
        ("expiresAt: 2027-01-01T00:00:00Z", "ends by itself"),
        ("evaluationMode: JSON", "says who in Kyverno honours it"),
    ],
)
def test_what_cannot_be_honoured_is_refused_by_name(load: Load, field: str, message: str) -> None:
    (error,) = load(f"{EXCEPTION}  {field}\n", POLICY).errors
    assert error.path == f"spec.{field.partition(':')[0]}"
    assert message in error.message
