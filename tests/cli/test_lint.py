from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]
Write = Callable[[str, Any], str]

NATIVE = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: p}}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules: [{{apiGroups: ["*"], apiVersions: ["*"], operations: [CREATE], resources: {resources}}}]
  validations:
  - expression: {expression}
    message: 'no'
"""
OWN = """\
apiVersion: cozyguard.io/v1alpha1
kind: AdmissionPolicy
metadata:
  name: variants
{annotations}spec:
  title: Variants
  severity: low
  category: packages
  matchConstraints:
    resourceRules: [{{apiGroups: [cozystack.io], apiVersions: ["*"], operations: [CREATE], resources: [packages]}}]
  validations:
  - name: known{comment}
    expression: >-
      object.metadata.name != 'a' ||
      object.?spec.?varriant.orValue('') == 'vgpu'
    message: 'no'
"""


def own(comment: str = "", annotation: str = "") -> str:
    annotations = f"  annotations: {{cozyguard.io/ignore: '{annotation}'}}\n" if annotation else ""
    return OWN.format(comment=f"  # {comment}" if comment else "", annotations=annotations)


@pytest.mark.parametrize(
    ("resources", "expression", "code", "place"),
    [
        (
            "[packages, virtualmachines]",
            "'!(\"sandbox\" in namespaceObject.metadata.labels)'",
            "null-namespace",
            (9, 33),
        ),
        ("[packages]", "object.spec.components.all(c, !has(c.enabled) || c.enabled)", "key-for-value", (9, 51)),
        (
            "[packages]",
            "'!has(object.spec.components.kubevirt.values.extraFeatureGates)'",
            "unguarded-has",
            (9, 30),
        ),
    ],
    ids=["namespaceObject of what has no namespace", "has() of a key", "has() with a gap"],
)
def test_what_a_native_policy_without_a_binding_gets_wrong_is_told(
    cozyguard: Run, write: Write, resources: str, expression: str, code: str, place: tuple[int, int]
) -> None:
    file = write("policy.yaml", NATIVE.format(resources=resources, expression=expression))
    answer = cozyguard("lint", file, "-o", "json")
    assert answer.code == 1
    assert (code, place) in [
        (one["check"], (one["source"]["line"], one["source"]["column"])) for one in answer.document["findings"]
    ]


def test_a_finding_points_into_the_expression_and_says_why_and_the_way_out(cozyguard: Run, write: Write) -> None:
    answer = cozyguard("lint", write("policy.yaml", own()))
    assert answer.code == 1
    assert answer.out.rpartition(" in ")[0] == (
        "policy.yaml:15:21: error: `object.?spec` has no field `varriant`; did you mean `variant`? [unknown-field]\n"
        "  15 |       object.?spec.?varriant.orValue('') == 'vgpu'\n"
        "     |                     ^^^^^^^^\n"
        "     = in:  variants, spec.validations[0].expression\n"
        "     = why: the API server keeps no such field: a rule that waits for it never sees one, and one that reads it "
        "fails\n"
        "     = fix: write the name as the schema has it\n"
        "\n"
        "Kubernetes itself can evaluate them from 1.28 on: `orValue` in variants\n"
        "linted 1 policy"
    )


@pytest.mark.parametrize(
    ("comment", "annotation", "by"),
    [
        ("cozyguard:ignore unknown-field: it is about the misspelling", "", "comment"),
        ("", "unknown-field=it is about the misspelling", "annotation"),
    ],
)
def test_a_finding_is_silenced_with_a_reason(
    cozyguard: Run, write: Write, comment: str, annotation: str, by: str
) -> None:
    answer = cozyguard("lint", write("policy.yaml", own(comment, annotation)), "-o", "json", "--fail-on", "remark")
    assert answer.code == 0
    assert [one["silenced"] for one in answer.document["findings"]] == [
        {"by": by, "reason": "it is about the misspelling"}
    ]


def test_without_a_reason_nothing_is_silenced(cozyguard: Run, write: Write) -> None:
    answer = cozyguard("lint", write("policy.yaml", own("cozyguard:ignore unknown-field")))
    assert answer.code == 1
    assert "the ignore of `unknown-field` has no reason and is not honoured" in answer.err


def test_a_silencing_of_another_check_silences_nothing(cozyguard: Run, write: Write) -> None:
    assert cozyguard("lint", write("policy.yaml", own("cozyguard:ignore wrong-type: why not"))).code == 1


def test_warnings_do_not_count_unless_asked_for(cozyguard: Run, write: Write) -> None:
    text = NATIVE.format(resources="[packages]", expression="object.spec.variant == 'vgpu'")
    file = write("policy.yaml", text)
    assert cozyguard("lint", file).code == 0
    assert cozyguard("lint", file, "--fail-on", "warning").code == 1


def test_a_policy_that_does_not_compile_is_an_error_and_the_others_are_linted(cozyguard: Run, write: Write) -> None:
    broken = NATIVE.format(resources="[packages]", expression="object.(").replace("name: p", "name: q")
    answer = cozyguard("lint", write("policy.yaml", f"{own()}---\n{broken}"))
    assert answer.code == 2
    assert "policy error: spec.validations[0].expression" in answer.err
    assert "unknown-field" in answer.out


def test_schemas_of_other_kinds_are_given(cozyguard: Run, write: Write) -> None:
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "spec": {
            "group": "example.org",
            "scope": "Cluster",
            "names": {"kind": "Thing", "plural": "things"},
            "versions": [{"name": "v1", "schema": {"openAPIV3Schema": {"type": "object", "properties": {"size": {}}}}}],
        },
    }
    text = NATIVE.format(resources="[things]", expression="'!has(object.sice)'").replace('"*"', "example.org", 1)
    file = write("policy.yaml", text)
    assert cozyguard("lint", file).code == 0
    answer = cozyguard("lint", file, f"--schemas={write('crd.json', crd)}")
    assert answer.code == 1
    assert "Thing has no field `sice`; did you mean `size`?" in answer.out


def test_an_older_kubernetes_does_not_have_everything(cozyguard: Run, write: Write) -> None:
    text = NATIVE.format(resources="[packages]", expression="'!isSemver(object.metadata.name)'")
    file = write("policy.yaml", text)
    answer = cozyguard("lint", file, "--kubernetes-version", "1.32")
    assert answer.code == 1
    assert "`isSemver` needs Kubernetes 1.33, and this is for 1.32 [newer-kubernetes]" in answer.out
    needed = cozyguard("lint", file, "-o", "json").document["policies"]
    assert needed == [{"policy": "p", "kubernetes": "1.33", "because": "`isSemver`"}]


def test_github_annotates_the_line(cozyguard: Run, write: Write) -> None:
    answer = cozyguard("lint", write("policy.yaml", own()), "-o", "github")
    assert answer.out.startswith(
        "::error file=policy.yaml,line=15,col=21,endColumn=29,title=variants%3A a field that no matched kind has::"
        "`object.?spec` has no field `varriant`; did you mean `variant`?%0Awhy: "
    )


def test_a_policy_with_two_bindings_is_looked_at_once(cozyguard: Run, write: Write) -> None:
    binding = """\
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{name: {name}}}
spec: {{policyName: p, validationActions: [Deny]}}
"""
    text = NATIVE.format(resources="[packages]", expression="object.metadata.name != 'a'")
    file = write("policy.yaml", text + binding.format(name="one") + binding.format(name="two"))
    answer = cozyguard("lint", file, "--fail-on", "remark", "-o", "json")
    assert answer.code == 0
    assert answer.document["summary"]["policies"] == 1
