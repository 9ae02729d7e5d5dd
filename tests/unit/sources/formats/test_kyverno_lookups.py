from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from webhook.engine.compile import CompiledPolicy, compile_policy
from webhook.engine.context import Context
from webhook.engine.pipeline import review
from webhook.engine.policyset import PolicySet
from webhook.errors import DocumentErrors
from webhook.model.decision import Decision
from webhook.model.policy import NOWHERE, Policy
from webhook.model.request import Object
from webhook.model.suite import Case, Expectation
from webhook.runs.suite import request_of
from webhook.sources import catalog
from webhook.sources.objects import ObjectStore
from webhook.sources.policies import Loaded

Load = Callable[..., Loaded]

POLICY = """\
apiVersion: policies.kyverno.io/v1
kind: ValidatingPolicy
metadata: {name: p}
spec:
  autogen: {podControllers: {controllers: CONTROLLERS}}
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
  variables:
  - name: allowed
    expression: resource.Get("v1", "configmaps", object.metadata.namespace, 'allowed').data
  validations:
  - expression: variables.allowed.?image.orValue('') == object.spec.image
"""
POD: Object = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"image": "a"}}


def policies(load: Load, text: str = POLICY, controllers: str = "[]") -> tuple[Policy, ...]:
    loaded = load(text.replace("CONTROLLERS", controllers))
    assert not loaded.errors
    return loaded.policies


def decide(found: tuple[Policy, ...], *objects: Object, obj: Object = POD, closed: bool = True) -> Decision:
    compiled: list[CompiledPolicy] = [compile_policy(policy) for policy in found]
    context = Context(catalog.newest(), ObjectStore(objects, closed_world=closed))
    return review(PolicySet.link(compiled), request_of(Case("c", obj, Expectation(), NOWHERE)), context)


def config(image: str, **more: Any) -> Object:
    metadata = {"name": "allowed", "namespace": "default", **more}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"image": image}}


def test_an_object_is_looked_up_by_what_the_request_says(load: Load) -> None:
    found = policies(load)
    (lookup,) = found[0].lookups
    assert (lookup.api_version, lookup.kind, lookup.object_name.literal) == ("v1", "ConfigMap", "allowed")
    assert decide(found, config("a")).allowed
    assert [one.outcome for one in decide(found, config("b")).findings] == ["deny"]


def test_one_that_is_not_there_is_an_error_as_for_kyverno(load: Load) -> None:
    text = POLICY.replace("'allowed').data", "'allowed')").replace(
        "variables.allowed.?image", "variables.allowed.?data"
    )
    assert [one.outcome for one in decide(policies(load, text)).findings] == ["error"]


def test_one_that_nobody_knows_leaves_the_rule_unchecked(load: Load) -> None:
    (finding,) = decide(policies(load), closed=False).findings
    assert finding.message == "not checked: needs ConfigMap default/allowed"


def test_objects_are_listed(load: Load) -> None:
    text = POLICY.replace(
        """resource.Get("v1", "configmaps", object.metadata.namespace, 'allowed').data""",
        "resource.List('v1', 'configmaps', '').items.filter(c, c.metadata.name == 'allowed')[0].data",
    )
    assert decide(policies(load, text), config("a", namespace="other")).allowed


def test_what_names_an_object_may_be_a_variable(load: Load) -> None:
    earlier = "  - {name: where, expression: object.metadata.namespace // comment}\n  - {name: at, expression: variables.where}\n"
    text = POLICY.replace("  variables:\n", f"  variables:\n{earlier}")
    text = text.replace("object.metadata.namespace, 'allowed'", "variables.at, 'allowed'")
    assert decide(policies(load, text), config("a")).allowed
    assert not decide(policies(load, text), config("b")).allowed


def test_variables_that_double_each_other_end(load: Load) -> None:
    doubled = "".join(f"  - {{name: v{i + 1}, expression: variables.v{i} + variables.v{i}}}\n" for i in range(40))
    text = POLICY.replace(
        "  variables:\n", f"  variables:\n  - {{name: v0, expression: object.metadata.name}}\n{doubled}"
    )
    (policy,) = policies(load, text.replace("object.metadata.namespace, ", "variables.v40, "))
    with pytest.raises(DocumentErrors, match=r"no variable `variables\.v40`"):
        compile_policy(policy)


def test_policies_for_controllers_look_up_for_themselves(load: Load) -> None:
    text = POLICY.replace("object.metadata.namespace", "object.metadata.labels.ns")
    found = policies(load, text, "[jobs]")
    pod = {"metadata": {"labels": {"ns": "default"}}, "spec": {"image": "a"}}
    job: Object = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {"template": pod}}
    assert decide(found, config("a"), obj=job).allowed
    assert decide(found, config("a"), obj={**POD, "metadata": {"name": "p", "labels": {"ns": "default"}}}).allowed


def test_a_namespaced_policy_looks_in_its_own_namespace(load: Load) -> None:
    text = POLICY.replace("kind: V", "kind: NamespacedV").replace("{name: p}", "{name: p, namespace: default}")
    text = text.replace("object.metadata.namespace, ", "")
    assert decide(policies(load, text), config("a")).allowed


def test_what_is_written_twice_is_looked_up_once(load: Load) -> None:
    call = "resource.Get('v1', 'nodes', '', 'a').spec == resource.Get('v1', 'nodes', '', 'a').spec"
    text = POLICY.replace("variables.allowed.?image.orValue('') == object.spec.image", call)
    assert [lookup.kind for lookup in policies(load, text)[0].lookups] == ["ConfigMap", "Node"]


def test_what_comes_after_a_call_stays_where_it_is(load: Load) -> None:
    text = POLICY.replace("'allowed').data", "'allowed').data + nothing")
    (policy,) = policies(load, text)
    with pytest.raises(DocumentErrors, match=r"p\.yaml:10:\d+: .*no variable `nothing`") as told:
        compile_policy(policy)
    assert f":10:{text.splitlines()[9].index('nothing') + 1}:" in str(told.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("resource.Get(object.v, 'pods', '', 'a')", "reads what only `object.v` tells"),
        ("resource.Get('example.org/v1', 'foos', '', 'a')", "reads `foos` of example.org/v1, whose kind is not known"),
        ("resource.Get('v1', 'pods', 'a')", "takes apiVersion, resource, namespace, name here"),
        ("resource.list('v1', 'pods', '', {'a':'b'})", "takes apiVersion, resource, namespace here"),
    ],
)
def test_a_call_that_may_read_anything_is_refused(load: Load, call: str, message: str) -> None:
    text = POLICY.replace("variables.allowed.?image.orValue('') == object.spec.image", f"{call} != null")
    (error,) = load(text.replace("CONTROLLERS", "[]")).errors
    assert error.path == "spec.validations[0].expression"
    assert message in error.message
