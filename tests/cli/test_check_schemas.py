from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]
Write = Callable[[str, Any], str]
Native = Callable[..., str]

LABELS = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: build
  labels:
    commit: 81111e1
  annotations:
    example.org/build: 1E04
data:
  mode: 0o17
  zip: 0951
"""
SELECTOR = """\
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: gpu-probe, namespace: ml}
spec:
  selector: {matchLabels: {app: gpu-probe}}
  template:
    metadata:
      labels: {app: gpu-probe, canary: y}
    spec:
      nodeSelector:
        gpu: on
      containers: [{name: main, image: "registry.example.org/probe:1"}]
"""
MISSPELT = """\
apiVersion: cozystack.io/v1alpha1
kind: Package
metadata: {name: cozystack.hami}
spec:
  varriant: default
"""
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "things.example.org"},
    "spec": {
        "group": "example.org",
        "scope": "Cluster",
        "names": {"kind": "Thing", "plural": "things"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"size": {"type": "integer"}}}},
            }
        ],
    },
}
THING = {"apiVersion": "example.org/v1", "kind": "Thing", "metadata": {"name": "a"}, "size": "1"}


@pytest.mark.parametrize("flags", [(), ("--schemas",)])
@pytest.mark.parametrize(
    ("text", "places"),
    [
        (
            LABELS,
            [
                (6, 13, "metadata.labels.commit"),
                (8, 24, 'metadata.annotations["example.org/build"]'),
                (10, 9, "data.mode"),
                (11, 8, "data.zip"),
            ],
        ),
        (
            SELECTOR,
            [(8, 40, "spec.template.metadata.labels.canary"), (11, 14, "spec.template.spec.nodeSelector.gpu")],
        ),
    ],
    ids=["a hash that is a number", "a label that is a boolean"],
)
def test_what_yaml_takes_for_no_text_is_told_at_every_place(
    cozyguard: Run, write: Write, native: Native, text: str, places: list[tuple[int, int, str]], flags: tuple[str, ...]
) -> None:
    policy = native("true", resources="*")
    answer = cozyguard("check", *flags, write("a.yaml", text), "--policies", policy, "-o", "json")
    assert answer.code == 2
    faults = answer.document["inputErrors"]
    assert [(each["line"], each["column"], each["path"]) for each in faults] == places
    assert all(f": {path}: got `" in answer.err for _, _, path in places)
    assert all("put it in quotes" in each["message"] for each in faults)


def test_a_misspelt_field_is_no_fault_of_a_manifest_unless_schemas_are_asked_for(
    cozyguard: Run, write: Write, native: Native
) -> None:
    policy, file = native("true", resources="*"), write("a.yaml", MISSPELT)
    assert cozyguard("check", file, "--policies", policy).code == 0
    answer = cozyguard("check", file, "--policies", policy, "--schemas")
    assert answer.code == 2
    assert answer.err == "a.yaml:5:3: input error: spec.varriant: unknown field; did you mean `variant`?\n"


def test_a_definition_counts_among_the_files_in_the_cluster_state_and_behind_the_flag(
    cozyguard: Run, write: Write, native: Native
) -> None:
    policy, crd, thing = native("true", resources="*"), write("crd.json", DEFINITION), write("thing.json", THING)
    for arguments in (["--schemas", crd], ["--schemas", "--cluster-state", crd], [f"--schemas={crd}"]):
        answer = cozyguard("check", "--policies", policy, *arguments, thing)
        assert "size: got `1`, want a whole number" in answer.err, arguments
    assert cozyguard("check", thing, "--policies", policy, "--schemas").code == 0


def test_schemas_that_cannot_be_read_are_said_with_their_place(cozyguard: Run, write: Write, native: Native) -> None:
    answer = cozyguard(
        "check", write("a.yaml", MISSPELT), "--policies", native("true", resources="*"), "--schemas=a.yaml"
    )
    assert answer.code == 2
    assert "a.yaml:2:7: error: want a CustomResourceDefinition" in answer.err


def test_the_variable_of_the_flag_is_true_or_paths(
    cozyguard: Run, write: Write, native: Native, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy, file = native("true", resources="*"), write("a.yaml", MISSPELT)
    monkeypatch.setenv("COZYGUARD_SCHEMAS", f"true:{write('crd.json', DEFINITION)}")
    assert cozyguard("check", file, "--policies", policy).code == 2


def test_values_of_secrets_are_not_shown(cozyguard: Run, write: Write, native: Native) -> None:
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {pin: 4711}\ndata: {key: 'hunter2!'}\n"
    answer = cozyguard("check", write("a.yaml", secret), "--policies", native("true", resources="*"))
    assert answer.code == 2
    assert "stringData.pin: want text; put it in quotes" in answer.err
    assert "4711" not in answer.err
    assert "hunter2" not in answer.err


def test_what_a_policy_says_is_not_said_twice(cozyguard: Run, write: Write, native: Native) -> None:
    text = "apiVersion: v1\nkind: Node\nmetadata: {name: a, labels: {gpu: on}}\n"
    policy = native("type(object.metadata.labels.gpu) == string", resources="nodes")
    answer = cozyguard("check", write("a.yaml", text), "--policies", policy)
    assert answer.code == 1
    assert answer.err == ""


def test_schemas_do_not_go_with_a_comparison(cozyguard: Run, write: Write) -> None:
    answer = cozyguard("check", write("a.yaml", MISSPELT), "--schemas", "--to", "1.6")
    assert answer.code == 2
    assert "`--schemas` does not go with `--to`" in answer.err


@pytest.mark.parametrize(
    ("api_version", "kind", "message"),
    [
        ("apps/v1", "Deploymnet", "`apps/v1` has no kind `Deploymnet`; did you mean `Deployment`?"),
        (
            "policy/v1beta1",
            "PodDisruptionBudget",
            "Kubernetes 1.36 has `PodDisruptionBudget` as v1, not as `policy/v1beta1`",
        ),
    ],
)
def test_a_kind_that_kubernetes_does_not_have_is_told(
    cozyguard: Run, write: Write, native: Native, api_version: str, kind: str, message: str
) -> None:
    file = write("a.yaml", {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}})
    answer = cozyguard("check", file, "--schemas", "--policies", native("true", resources="*"))
    assert answer.code == 2
    assert f"kind: {message}" in answer.err
