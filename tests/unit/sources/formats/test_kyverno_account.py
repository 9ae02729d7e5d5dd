from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from webhook.cel.program import Activation, Builder, SlotTable
from webhook.sources.policies import Loaded

Load = Callable[..., Loaded]

POLICY = """\
apiVersion: policies.kyverno.io/v1
kind: ValidatingPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [nodes], operations: [CREATE]}]
  variables: [{name: account, expression: "parseServiceAccount(object.user)"}]
  validations: [{expression: "user.parseServiceAccount(object.user).Name != 'a'"}]
"""


def account(load: Load, user: str) -> Any:
    (policy,) = load(POLICY).policies
    builder = Builder({"object": "dyn"})
    builder.function("f", policy.variables[0].expression.text, want="dyn")
    return builder.build().link(SlotTable()).functions["f"](Activation(object={"user": user}, size=9))


@pytest.mark.parametrize(
    ("user", "namespace", "name"),
    [
        ("system:serviceaccount:kube-system:default", "kube-system", "default"),
        ("system:serviceaccount:a:b:c", "a", "b:c"),
        ("system:serviceaccount:a", "", ""),
        ("system:serviceaccount::b", "", "b"),
        ("anna", "", ""),
    ],
)
def test_a_service_account_is_told_by_its_user_name(load: Load, user: str, namespace: str, name: str) -> None:
    assert account(load, user) == {"Namespace": namespace, "Name": name}


def test_the_call_is_written_out_wherever_it_stands(load: Load) -> None:
    (policy,) = load(POLICY).policies
    assert "parseServiceAccount" not in policy.validations[0].expression.text
