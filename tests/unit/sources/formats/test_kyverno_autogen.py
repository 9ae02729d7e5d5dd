from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from webhook.engine.compile import within
from webhook.engine.context import Context
from webhook.engine.pipeline import review
from webhook.engine.policyset import PolicySet
from webhook.model.policy import NOWHERE, Policy
from webhook.model.request import Object
from webhook.model.suite import Case, Expectation
from webhook.runs.suite import request_of
from webhook.sources import catalog, compiled
from webhook.sources.objects import ObjectStore
from webhook.sources.policies import Loaded

Load = Callable[..., Loaded]

VALIDATING = """\
apiVersion: policies.kyverno.io/v1
kind: ValidatingPolicy
metadata: {name: p}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {a: b}}
    resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
  validations: [{expression: "EXPRESSION"}]
"""
SERVICES = "{apiGroups: [''], apiVersions: [v1], resources: [services], operations: [UPDATE]}"
MUTATING = """\
apiVersion: policies.kyverno.io/v1
kind: MutatingPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
  matchConditions: [{name: a, expression: "has(object.spec.a)"}]
  variables: [{name: v, expression: object.spec.a}]
  mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "EXPRESSION"}}]
"""


def made(load: Load, text: str) -> dict[str, Policy]:
    loaded = load(text)
    assert not loaded.errors
    return {policy.generated_for: policy for policy in loaded.policies}


def rules(load: Load, expression: str) -> list[str]:
    """Give the rule as it is written, for controllers, and for CronJobs."""
    policies = made(load, VALIDATING.replace("EXPRESSION", expression)).values()
    return [policy.validations[0].expression.text for policy in policies]


def mutations(load: Load, expression: str) -> list[str]:
    policies = made(load, MUTATING.replace("EXPRESSION", expression)).values()
    return [policy.mutations[0].patch.text for policy in policies]


def test_a_policy_about_pods_holds_for_every_pod_controller(load: Load) -> None:
    policies = made(load, VALIDATING.replace("EXPRESSION", "true"))
    assert list(policies) == ["", "daemonsets, deployments, jobs, replicasets, statefulsets", "cronjobs"]
    _, templates, jobs = policies.values()
    assert [(rule.api_groups, rule.resources) for rule in templates.match.resource_rules] == [
        (("apps",), ("daemonsets", "deployments", "replicasets", "statefulsets")),
        (("batch",), ("jobs",)),
    ]
    assert jobs.match.resource_rules[0].resources == ("cronjobs",)
    assert jobs.match.resource_rules[0].operations == ("CREATE",)
    assert jobs.match.namespace_selector == policies[""].match.namespace_selector


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("resources: [pods]", "resources: [pods, services]"),
        ("apiVersions: [v1]", "apiVersions: ['*']"),
        ("resources: [pods]", "resourceNames: [a], resources: [pods]"),
        ("namespaceSelector", "objectSelector"),
        ("resourceRules: [", f"excludeResourceRules: [{SERVICES}]\n    resourceRules: ["),
    ],
)
def test_a_policy_that_is_about_more_or_less_than_pods_holds_for_no_controller(
    load: Load, wrong: str, right: str
) -> None:
    assert list(made(load, VALIDATING.replace(wrong, right).replace("EXPRESSION", "true"))) == [""]


@pytest.mark.parametrize(
    ("chosen", "wanted"),
    [("[]", [""]), ("[cronjobs]", ["", "cronjobs"]), ("[jobs, deployments]", ["", "deployments, jobs"])],
)
def test_controllers_can_be_chosen(load: Load, chosen: str, wanted: list[str]) -> None:
    spec = f"spec:\n  autogen: {{podControllers: {{controllers: {chosen}}}}}"
    assert list(made(load, VALIDATING.replace("spec:", spec).replace("EXPRESSION", "true"))) == wanted


def test_a_controller_that_kyverno_does_not_know_is_told(load: Load) -> None:
    spec = "spec:\n  autogen: {podControllers: {controllers: [Deployment]}}"
    loaded = load(VALIDATING.replace("spec:", spec).replace("EXPRESSION", "true"))
    assert len(loaded.policies) == 1
    (notice,) = loaded.notices
    assert notice.path == "spec.autogen.podControllers.controllers[0]"
    assert "did you mean `deployments`?" in notice.message


@pytest.mark.parametrize(
    ("pod", "template"),
    [
        ("object.spec.a == 1", "object.T.spec.a == 1"),
        ("oldObject.spec.a != object.metadata.labels", "oldObject.T.spec.a != object.T.metadata.labels"),
        ("has(object.metadata.namespace)", "has(object.metadata.namespace)"),
        ("has(object.metadata.namespaced)", "has(object.T.metadata.namespaced)"),
        ("object.?spec.?a.hasValue()", "object.?spec.?a.hasValue()"),
        ("namespaceObject.metadata.name == 'object.spec'", "namespaceObject.metadata.name == 'object.T.spec'"),
    ],
)
def test_texts_are_rewritten_as_kyverno_rewrites_them(load: Load, pod: str, template: str) -> None:
    steps = ("spec.template", "spec.jobTemplate.spec.template")
    assert rules(load, pod) == [pod, *(template.replace("T", step) for step in steps)]


def test_what_a_mutation_gives_is_put_into_the_template(load: Load) -> None:
    _, templates, jobs = mutations(load, " Object {spec: Object.spec{a: object.spec.a}}")
    assert templates == (
        "Object{spec: Object.spec{template: Object.spec.template{"
        "spec: Object.spec.template.spec{a: object.spec.template.spec.a}}}}"
    )
    assert jobs == (
        "Object{spec: Object.spec{jobTemplate: Object.spec.jobTemplate{spec: Object.spec.jobTemplate.spec{"
        "template: Object.spec.jobTemplate.spec.template{spec: Object.spec.jobTemplate.spec.template.spec{"
        "a: object.spec.jobTemplate.spec.template.spec.a}}}}}}"
    )


def test_conditions_of_a_mutation_are_rewritten_and_variables_are_not(load: Load) -> None:
    templates = list(made(load, MUTATING.replace("EXPRESSION", "Object{spec: Object.spec{a: 1}}")).values())[1]
    assert templates.match_conditions[0].expression.text == "has(object.spec.template.spec.a)"
    assert templates.variables[0].expression.text == "object.spec.a"


@pytest.mark.parametrize("text", ["Object{}", "has(object.x) ? Object{} : Object{}", "Objects{a: 1}", "Object{a: 1"])
def test_what_is_no_whole_object_is_not_put_anywhere(load: Load, text: str) -> None:
    assert mutations(load, text)[1] == text


def test_a_fault_is_told_once_and_not_again_for_controllers(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(VALIDATING.replace("EXPRESSION", "object.spec.a && nothing"))
    (error,) = compiled.load([file]).errors
    assert error.path == "spec.validations[0].expression"


def test_a_fault_that_only_rewriting_made_is_told_of_the_controllers(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(MUTATING.replace("EXPRESSION", "Object{metadata: Object.metadata{labels: {}}}"))
    assert {error.path.rpartition(" for ")[2] for error in compiled.load([file]).errors} == {
        "cronjobs",
        "daemonsets, deployments, jobs, replicasets, statefulsets",
    }


@pytest.mark.parametrize("part", ["object", "items", "c.image", "'a'"])
def test_places_in_what_was_made_are_those_in_the_file(load: Load, part: str) -> None:
    text = VALIDATING.replace("EXPRESSION", "object.spec.items.all(c, c.image != 'a')")
    for policy in load(text).policies:
        expression = policy.validations[0].expression
        at = within(expression, 1, expression.text.index(part) + 1)
        assert text.splitlines()[at.line - 1][at.column - 1 :].startswith(part)
        assert at.path.startswith("spec.validations[0].expression")


def test_a_finding_points_into_the_template(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(VALIDATING.replace("EXPRESSION", "object.spec.containers.all(c, c.image != 'a')"))
    pod: Object = {"metadata": {}, "spec": {"containers": [{"image": "b"}, {"image": "a"}]}}
    job: Object = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {"template": pod}}
    policies = PolicySet.link(compiled.load([file]).policies)
    namespace: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default", "labels": {"a": "b"}}}
    context = Context(catalog.newest(), ObjectStore([namespace], closed_world=True))
    decision = review(policies, request_of(Case("j", job, Expectation(), NOWHERE)), context)
    assert [finding.field for finding in decision.findings] == [("spec", "template", "spec", "containers", 1, "image")]
