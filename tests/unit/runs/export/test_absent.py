"""Which rules hold where what they look up is not there: these can have it as the param of a native policy."""

from __future__ import annotations

import pytest

from webhook.engine.compile import compile_policy
from webhook.engine.policyset import PolicySet
from webhook.runs.export.absent import Absent
from webhook.sources.policies import read
from webhook.sources.policy_files import PolicyFile

POLICY = """\
apiVersion: cozyguard.io/v1alpha1
kind: AdmissionPolicy
metadata: {name: guarded}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}
  lookups:
  - {name: gpu, apiVersion: example.org/v1, kind: Thing, objectName: gpu}
  variables:
  - {name: mode, expression: "lookups.gpu.?spec.?mode.orValue('none')"}
  - {name: other, expression: "object.spec.other"}
  validations:
  - {expression: "EXPRESSION", message: broken}
  - {forEach: {in: "lookups.gpu.?spec.?names.orValue([])", as: name}, expression: object.spec.name != name}
"""


def absent(expression: str) -> Absent:
    text = POLICY.replace("EXPRESSION", expression)
    (policy,) = read([PolicyFile("p.yaml", text.encode(), strict=True, root="p.yaml")]).policies
    (linked,) = PolicySet.link([compile_policy(policy)]).policies
    return Absent(linked.linked.trees, "lookups.gpu")


@pytest.mark.parametrize(
    "expression",
    [
        "lookups.gpu == null || lookups.gpu.spec.mode == 'x'",
        "variables.mode != 'container' || object.spec.fails",
        "object.spec.fails || variables.mode == 'none'",
        "!(variables.mode == 'container' && object.spec.fails)",
        "lookups.gpu != null ? object.spec.fails : true",
        "!has(lookups.gpu.spec)",
        "!lookups.gpu.?spec.hasValue()",
        "lookups.gpu.?spec[?'mode'].?deep.optMap(m, m == 'x').orValue(true)",
        "lookups.gpu.?spec.or(optional.none()) == optional.none() || lookups.gpu == null",
    ],
)
def test_a_rule_that_it_only_guards_holds(expression: str) -> None:
    assert absent(expression).holds("validation.0")


@pytest.mark.parametrize(
    "expression",
    [
        "lookups.gpu != null",
        "lookups.gpu.spec.mode == 'x'",
        "variables.mode == 'none' && object.spec.holds",
        "variables.other == null || variables.mode == 'x'",
        "variables.mode == object.spec.mode",
        "object.spec.mode == 'x' ? true : variables.mode == 'none'",
    ],
)
def test_a_rule_that_depends_on_more_may_not(expression: str) -> None:
    assert not absent(expression).holds("validation.0")


def test_a_rule_about_elements_of_what_is_not_there_holds() -> None:
    assert absent("true").holds("validation.1")
