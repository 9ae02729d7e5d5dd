"""What has to be watched, told from policies."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from webhook.cel.needs import Needs
from webhook.cluster.wants import RELEASE, Scope, Wants, wanted
from webhook.engine.policyset import PolicySet
from webhook.sources import compiled

ALWAYS = RELEASE | {Scope("v1", "Namespace")}
VM = {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine"}
ALL = Scope("kubevirt.io/v1", "VirtualMachine")
ONE = Scope("kubevirt.io/v1", "VirtualMachine", "ns", "a")


@pytest.fixture
def wanting(tmp_path: Path) -> Callable[..., Wants]:
    """Give what a policy with these lookups (name → lookup) and this rule wants."""

    def write(expression: str, **lookups: dict[str, str]) -> Wants:
        rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}
        spec = {
            "matchConstraints": {"resourceRules": [rule]},
            "lookups": [{"name": name} | lookup for name, lookup in lookups.items()],
            "validations": [{"expression": expression, "message": "no"}],
        }
        policy = {"apiVersion": "cozyguard.io/v1alpha1", "kind": "AdmissionPolicy", "metadata": {"name": "p"}}
        file = tmp_path / "policy.yaml"
        file.write_text(json.dumps(policy | {"spec": spec}))
        made = compiled.load([file])
        assert not made.errors
        return wanted(PolicySet.link(made.policies))

    return write


def test_namespaces_and_the_release_are_always_wanted() -> None:
    assert wanted(PolicySet.link(())).keys() == ALWAYS


def test_an_object_of_a_fixed_name_is_wanted_alone(wanting: Callable[..., Wants]) -> None:
    wants = wanting("lookups.x.spec.running == true", x=VM | {"namespace": "ns", "objectName": "a"})
    assert wants.keys() - ALWAYS == {ONE}
    assert wants[ONE] == Needs(frozenset({("spec", "running")}), frozenset({(), ("spec",)}))


def test_a_computed_name_wants_all_objects_and_all_that_is_read_of_any(wanting: Callable[..., Wants]) -> None:
    wants = wanting(
        "lookups.x.spec.a == 1 && lookups.y.spec.b == 1 && lookups.z.all(v, v.spec.c == 1)",
        x=VM | {"namespace": "ns", "objectName": "a"},
        y=VM | {"namespace": "ns", "objectNameExpression": "string(object.metadata.name)"},
        z=VM,
    )
    assert wants.keys() - ALWAYS == {ALL}
    assert wants[ALL].whole == {("spec", "a"), ("spec", "b"), ("spec", "c")}


def test_what_is_read_of_the_requests_namespace_is_wanted_of_namespaces(wanting: Callable[..., Wants]) -> None:
    wants = wanting("namespaceObject.metadata.annotations['a'] == 'b'")
    assert wants[Scope("v1", "Namespace")].whole == {("metadata", "annotations", "a")}


@pytest.mark.parametrize(
    ("scope", "text"),
    [
        (Scope("v1", "Secret"), "Secret"),
        (Scope("apps/v1", "Deployment", "ns", "a"), "Deployment.apps ns/a"),
        (Scope("cozystack.io/v1alpha1", "Package", name="a"), "Package.cozystack.io a"),
    ],
)
def test_a_scope_is_written_as_kubectl_would(scope: Scope, text: str) -> None:
    assert str(scope) == text


def of(tmp_path: Path, **spec: object) -> Wants:
    """Give what a policy with this spec wants."""
    policy = {"apiVersion": "cozyguard.io/v1alpha1", "kind": "AdmissionPolicy", "metadata": {"name": "p"}, "spec": spec}
    (tmp_path / "policy.yaml").write_text(json.dumps(policy))
    made = compiled.load([tmp_path / "policy.yaml"])
    assert not made.errors
    return wanted(PolicySet.link(made.policies))


def about(group: str) -> dict[str, object]:
    rule = {"apiGroups": [group], "apiVersions": ["*"], "resources": ["*"], "operations": ["CREATE"]}
    return {"resourceRules": [rule]}


def test_params_are_wanted_with_what_is_read_of_them(tmp_path: Path) -> None:
    wants = of(
        tmp_path,
        matchConstraints=about(""),
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
        paramRef={"name": "a", "namespace": "ns", "parameterNotFoundAction": "Deny"},
        validations=[{"expression": "params.data.most == '1'"}],
    )
    assert wants.keys() - ALWAYS == {Scope("v1", "ConfigMap", "ns", "a")}
    assert ("data", "most") in wants[Scope("v1", "ConfigMap", "ns", "a")].whole


@pytest.mark.parametrize(("group", "more"), [("apps", 0), ("", 0), ("cozystack.io", 1), ("*", 1)])
def test_definitions_are_wanted_to_merge_into_custom_resources(group: str, more: int, tmp_path: Path) -> None:
    mutation = {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{}"}}
    wants = of(tmp_path, matchConstraints=about(group), mutations=[mutation])
    definitions = [Scope("apiextensions.k8s.io/v1", "CustomResourceDefinition")]
    assert wants.keys() - ALWAYS == set(definitions[:more])
