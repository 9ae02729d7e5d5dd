"""Every fault of every expression is found, and said to be where it is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from webhook.engine.compile import compile_policy
from webhook.errors import DocumentErrors
from webhook.sources.policies import read
from webhook.sources.policy_files import PolicyFile

BROKEN = """\
apiVersion: cozyguard.io/v1alpha1
kind: AdmissionPolicy
metadata: {name: broken}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}
  variables:
  - {name: gpus, expression: object.spec.gpus +}
  - {name: first, expression: 'variables.gpus[0]'}
  matchConditions:
  - {name: c, expression: variables.first == 1}
  validations:
  - expression: |
      true &&
      objekt.spec.x == 1
  - expression: variables.fist == 1
    messageExpression: object.metadata.name
    fix: {patchExpression: "'no list'"}
"""


def faults(text: str) -> list[tuple[int, int, str]]:
    (policy,) = read([PolicyFile("p.yaml", text.encode(), strict=True, root="p.yaml")]).policies
    with pytest.raises(DocumentErrors) as raised:
        compile_policy(policy)
    return [(error.line, error.column, error.path) for error in raised.value]


def test_all_faults_are_found_each_at_its_place_and_none_because_of_another() -> None:
    assert faults(BROKEN) == [
        (9, 48, "spec.variables[0].expression"),
        (12, 27, "spec.matchConditions[0].expression"),
        (16, 7, "spec.validations[0].expression"),
        (17, 17, "spec.validations[1].expression"),
        (18, 39, "spec.validations[1].messageExpression"),
        (19, 29, "spec.validations[1].fix.patchExpression"),
    ]


def test_match_conditions_see_no_variables_as_in_kubernetes(link: Any) -> None:
    with pytest.raises(DocumentErrors, match="matchConditions"):
        link(
            "variables: [{name: a, expression: '1'}]\nmatchConditions: [{name: c, expression: variables.a == 1}]\nvalidations: [{expression: 'true'}]"
        )


def test_equal_lookups_of_two_policies_are_one_question(link: Any) -> None:
    lookup = "lookups: [{name: NAME, apiVersion: v1, kind: Secret, objectName: a, namespace: b}]\nvalidations: [{expression: lookups.NAME != null}]"
    assert len(link(lookup.replace("NAME", "one"), lookup.replace("NAME", "two")).lookups) == 1
    assert len(link(lookup, lookup.replace("objectName: a", "objectName: c")).lookups) == 2


def test_a_condition_that_policies_share_is_tested_once(link: Any) -> None:
    plain = "matchConditions: [{name: c, expression: has(object.data)}]\nvalidations: [{expression: 'true'}]"
    assert link(plain, plain).slots == 1
    assert link(plain, plain.replace("object.data", "object.spec")).slots == 2


def test_equal_conditions_about_other_lookups_are_not_one(link: Any, judge: Any) -> None:
    policy = """
    lookups: [{name: one, apiVersion: v1, kind: ConfigMap, objectName: NAME, namespace: team}]
    matchConditions: [{name: c, expression: lookups.one == null}]
    validations: [{expression: 'false'}]
    """
    there = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "there", "namespace": "team"}}
    linked = link(policy.replace("NAME", "there"), policy.replace("NAME", "gone"))
    findings = judge(linked, {**there, "data": {}}, objects=[there]).findings
    assert [finding.policy.name for finding in findings] == ["p1"]


def test_the_cel_library_is_not_imported_to_run_what_is_compiled(tmp_path: Path) -> None:
    import subprocess
    import sys

    script = (
        "import sys\nfrom webhook.sources import compiled\nfrom webhook.sources.bundled import bundled\n"
        "from webhook.engine.policyset import PolicySet\nPolicySet.link(compiled.load([bundled()]).policies)\n"
        "print(sorted(m for m in ('cel_expr_python', 'pydantic', 'google.protobuf') if m in sys.modules))"
    )
    environment = {"XDG_CACHE_HOME": str(tmp_path), "PATH": ""}
    for _ in ("compiles", "runs what is compiled"):
        command = [sys.executable, "-c", script]
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert len(list(tmp_path.rglob("*.pickle"))) > 1
    assert ran.stdout == "[]\n"
