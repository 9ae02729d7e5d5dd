from __future__ import annotations

import json
from pathlib import Path

import pytest

from webhook.engine.context import Context
from webhook.engine.pipeline import review
from webhook.engine.policyset import PolicySet
from webhook.model.policy import NOWHERE
from webhook.model.request import Object
from webhook.model.suite import Case, Expectation
from webhook.runs.export.policy import Exported, export
from webhook.runs.suite import request_of
from webhook.sources import catalog, compiled
from webhook.sources.objects import ObjectStore

KYVERNO = """\
apiVersion: policies.kyverno.io/v1
kind: NamespacedValidatingPolicy
metadata: {name: owned, namespace: default}
spec:
  matchConditions: [{name: has a name, expression: has(object.metadata.name)}]
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
  validations: [{expression: "EXPRESSION"}]
"""
GATEKEEPER = """\
apiVersion: templates.gatekeeper.sh/v1
kind: ConstraintTemplate
metadata: {name: owned}
spec:
  crd: {spec: {names: {kind: Owned}}}
  targets:
  - target: admission.k8s.gatekeeper.sh
    code:
    - engine: K8sNativeValidation
      source: {validations: [{expression: "variables.params.key in variables.anyObject.metadata.?labels.orValue({})"}]}
---
apiVersion: constraints.gatekeeper.sh/v1beta1
kind: Owned
metadata: {name: all}
spec: {match: {kinds: [{apiGroups: ['', batch], kinds: [Pod, Job]}]}, parameters: {key: owner}}
"""
HAS_LABEL = "'owner' in object.metadata.?labels.orValue({})"


def policies(folder: Path, text: str) -> PolicySet:
    (folder / "p.yaml").write_text(text)
    loaded = compiled.load([folder / "p.yaml"])
    assert not loaded.errors
    return PolicySet.link(loaded.policies)


def exported(found: PolicySet) -> list[Exported]:
    return [export(policy, catalog.newest()) for policy in found.policies]


def decide(found: PolicySet, labels: dict[str, str]) -> list[bool]:
    pod: Object = {"metadata": {"labels": labels, "name": "p"}, "spec": {}}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "j", "labels": labels},
        "spec": {"template": pod},
    }
    context = Context(catalog.newest(), ObjectStore(closed_world=True))
    objects = ({"apiVersion": "v1", "kind": "Pod", **pod}, job)
    return [review(found, request_of(Case("c", one, Expectation(), NOWHERE)), context).allowed for one in objects]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            KYVERNO.replace("EXPRESSION", HAS_LABEL),
            ["default.owned", "default.owned-cronjobs", "default.owned-pod-controllers"],
        ),
        (GATEKEEPER, ["owned.all"]),
    ],
)
def test_each_has_a_name_of_its_own_and_decides_the_same_when_it_is_read_back(
    tmp_path: Path, text: str, names: list[str]
) -> None:
    found = policies(tmp_path, text)
    objects = [one for each in exported(found) for one in each.objects]
    assert sorted({one["metadata"]["name"] for one in objects}) == names
    back = policies(tmp_path, "\n---\n".join(map(json.dumps, objects)))
    for labels in ({}, {"owner": "a"}):
        assert decide(back, labels) == decide(found, labels)
    assert decide(back, {}) == [False, False]


def test_what_only_kyverno_takes_is_not_written(tmp_path: Path) -> None:
    text = KYVERNO.replace("EXPRESSION", "object.metadata.labels.orValue({}).size() > 0")
    (first, *_) = exported(policies(tmp_path, text))
    assert not first.objects
    assert [note.text for note in first.notes] == [
        "not exported: calls `orValue` of what may be no optional, which only Kyverno takes"
    ]


def test_a_condition_that_reads_variables_cannot_be_native(tmp_path: Path) -> None:
    text = (
        KYVERNO.replace("NamespacedValidatingPolicy", "MutatingPolicy")
        .replace(
            "  matchConditions: [{name: has a name, expression: has(object.metadata.name)}]\n",
            "  matchConditions: [{name: a, expression: variables.a}]\n  variables: [{name: a, expression: 'true'}]\n",
        )
        .replace(
            'validations: [{expression: "EXPRESSION"}]',
            'mutations: [{patchType: JSONPatch, jsonPatch: {expression: \'[JSONPatch{op: "test", path: "/a"}]\'}}]',
        )
    )
    (first, *_) = exported(policies(tmp_path, text))
    assert "a match condition reads `variables`" in first.notes[0].text
