from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import yaml

Run = Callable[..., Any]
Write = Callable[[str, Any], str]
Golden = Callable[[str, str], None]

POLICY = """\
apiVersion: cozyguard.io/v1alpha1
kind: AdmissionPolicy
metadata: {name: gates}
spec:
  title: Gates are known
  releases: ">=1.5"
  reinvocationPolicy: IfNeeded
  matchConstraints:
    resourceRules:
    - {apiGroups: [kubevirt.io], apiVersions: ["*"], resources: [kubevirts], operations: [CREATE, UPDATE]}
    namespaceSelector: {matchLabels: {a: b}}
  matchConditions:
  - {name: current, expression: release.version != '1.4'}
  lookups:
  - {name: gpu, apiVersion: cozystack.io/v1alpha1, kind: Package, objectName: cozystack.gpu-operator}
  variables:
  - {name: gates, expression: "object.spec.?gates.orValue([])"}
  - {name: unused, expression: object.spec.other}
  validations:
  - name: known
    forEach: {in: variables.gates, as: gate, at: i}
    expression: gate in ['A', 'B'] || 'gates' in acknowledged
    message: a gate is not known
    messageExpression: "'gate `' + string(gate) + '` of ' + release.version + ' is not known'"
    fix: {text: leave the gate out}
  - name: size
    expression: variables.gates.size() < 9
    allowedExpression: "[1, 2]"
    messageExpression: "'too many'"
    reason: Unauthorized
  - {name: operator, expression: lookups.gpu != null}
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: "Object{metadata: Object.metadata{labels: {'release': release.version}}}"}
  - {patchType: JSONPatch, jsonPatch: {expression: "[JSONPatch{op: 'add', path: '/spec/a/b', value: 1}]"}}
  auditAnnotations:
  - {key: gates, valueExpression: "string(variables.gates.size())"}
"""


def test_all_that_can_be_native_is_written_and_the_rest_is_told(cozyguard: Run, write: Write, golden: Golden) -> None:
    file = write("policy.yaml", POLICY)
    answer = cozyguard("export", "vap", "--policies", file, "--release", "1.6")

    assert answer.code == 0
    golden("export/gates.yaml", answer.out)
    golden("export/gates.txt", answer.err)


def test_what_is_written_loads_back(cozyguard: Run, write: Write) -> None:
    exported = cozyguard("export", "vap", "--policies", write("policy.yaml", POLICY)).out
    kubevirt = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "KubeVirt",
        "metadata": {"name": "k"},
        "spec": {"gates": ["A", "C"]},
    }
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default", "labels": {"a": "b"}}}
    objects = [
        write("native.yaml", exported),
        write("k.yaml", json.dumps(kubevirt)),
        write("n.yaml", json.dumps(namespace)),
    ]
    answer = cozyguard("check", *objects[1:], "--policies", objects[0], "--output", "json")

    (finding,) = [one for one in answer.document["results"] if one["outcome"] == "deny"]
    assert finding["message"] == "gate `C` of 1.6 is not known; fix: leave the gate out"


def test_json_is_one_list(cozyguard: Run, write: Write) -> None:
    answer = cozyguard("export", "vap", "--policies", write("policy.yaml", POLICY), "-o", "json")
    kinds = [item["kind"] for item in answer.document["items"]]
    assert kinds == [
        f"{kind}AdmissionPolicy{binding}" for kind in ("Validating", "Mutating") for binding in ("", "Binding")
    ]


def test_a_policy_for_other_releases_is_not_exported(cozyguard: Run, write: Write) -> None:
    answer = cozyguard("export", "vap", "--policies", write("policy.yaml", POLICY), "--release", "1.4")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.splitlines() == [
        "gates: not exported: is for Cozystack >=1.5, and this is 1.4",
        "exported 0 of 1 policies for Cozystack 1.4",
    ]


def test_policies_are_chosen_by_name(cozyguard: Run) -> None:
    answer = cozyguard("export", "vap", "vm-no-mig", "pod-hami-*")
    names = {document["metadata"]["name"] for document in yaml.safe_load_all(answer.out)}
    assert "vm-no-mig" in names
    assert all(name == "vm-no-mig" or name.startswith("pod-hami-") for name in names)


def test_a_name_that_no_policy_has_is_said_with_the_near_one(cozyguard: Run) -> None:
    answer = cozyguard("export", "vap", "vm-no-mug")
    assert answer.code == 2
    assert "no policy is called `vm-no-mug`; did you mean `vm-no-mig`?" in answer.err


@pytest.mark.parametrize("about", ["secrets", '"*"'])
def test_computed_messages_about_secrets_stay_here(about: str, cozyguard: Run, write: Write) -> None:
    policy = (
        POLICY.replace("kubevirt.io", "")
        .replace("[kubevirts]", f"[{about}]")
        .replace("apiGroups: []", "apiGroups: ['']")
    )
    answer = cozyguard("export", "vap", "--policies", write("policy.yaml", policy))
    assert "messageExpression" not in answer.out
    assert "gates: rule `known` says less: its computed message could tell a secret value" in answer.err


def test_params_and_bindings_of_a_native_policy_come_out_as_they_went_in(cozyguard: Run, write: Write) -> None:
    policy = POLICY.replace(
        "  lookups:",
        "  paramKind: {apiVersion: v1, kind: ConfigMap}\n  paramRef: {name: p, namespace: n1, parameterNotFoundAction: Allow}\n  lookups:",
    )
    first, second, *_ = yaml.safe_load_all(cozyguard("export", "vap", "--policies", write("p.yaml", policy)).out)
    assert first["spec"]["paramKind"] == {"apiVersion": "v1", "kind": "ConfigMap"}
    assert second["spec"]["paramRef"] == {"name": "p", "namespace": "n1", "parameterNotFoundAction": "Allow"}
