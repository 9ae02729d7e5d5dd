from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]
Write = Callable[[str, Any], str]
Package = Callable[[str], str]
Native = Callable[..., str]


VARIANTS = "object.spec.variant in ['default', 'container', 'vgpu']"
COZYSTACK = {"resources": "packages", "group": "cozystack.io"}


def package(name: str, variant: Any = "default", **metadata: Any) -> dict[str, Any]:
    spec = {"variant": variant}
    return {
        "apiVersion": "cozystack.io/v1alpha1",
        "kind": "Package",
        "metadata": {"name": name, **metadata},
        "spec": spec,
    }


@pytest.mark.parametrize("kind", ["List", "PackageList"])
def test_objects_inside_a_list_are_judged_one_by_one(cozyguard: Run, native: Native, write: Write, kind: str) -> None:
    items = [package("cozystack.hami"), package("cozystack.gpu-operator", "big")]
    file = write("list.json", {"apiVersion": "v1", "kind": kind, "items": items})

    answer = cozyguard("check", file, "--policies", native(VARIANTS, **COZYSTACK), "-o", "json")

    (result,) = answer.document["results"]
    assert answer.code == 1
    assert answer.document["summary"]["resources"] == 2
    assert result["resource"]["name"] == "cozystack.gpu-operator"
    assert (result["field"], result["source"]["line"]) == ("spec.variant", 22)


def test_byte_order_marks_and_crlf_leave_no_trace(cozyguard: Run, native: Native, write: Write) -> None:
    text = "\ufeffapiVersion: cozystack.io/v1alpha1\r\nkind: Package\r\nmetadata:\r\n  name: a\r\nspec:\r\n  variant: {}\r\n"
    file = write("both.yaml", text.format("default") + "---\r\n" + text.format("vgpu"))

    answer = cozyguard("check", file, "--policies", native(VARIANTS, **COZYSTACK), "-o", "json")

    assert answer.code == 0
    assert answer.document["summary"]["resources"] == 2


def test_a_merged_value_is_shown_where_it_is_used(cozyguard: Run, native: Native, write: Write) -> None:
    file = write(
        "deploy.yaml",
        """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: probe, namespace: lab}
spec:
  template:
    spec:
      containers:
      - &first
        name: one
        resources: {limits: {memory: 2Gi}}
      - <<: *first
        name: two
      - <<: *first
        name: three
        resources: {limits: {cpu: 1}}
""",
    )
    rule = "object.spec.template.spec.containers.all(c, has(c.resources.limits.memory))"
    policy = native(rule, resources="deployments", group="apps")

    answer = cozyguard("check", file, "--policies", policy, "-o", "json")

    (result,) = answer.document["results"]
    assert result["field"].startswith("spec.template.spec.containers[2].resources.limits")
    assert result["source"]["line"] == 15


def test_has_around_an_index_is_refused_when_the_policy_is_loaded(cozyguard: Run, native: Native, write: Write) -> None:
    policy = native("has(object.metadata.labels['a/b'])", resources="configmaps")

    answer = cozyguard("check", write("x.json", package("x")), "--policies", policy, "-o", "json")

    assert answer.code == 2
    assert [error["path"] for error in answer.document["policyErrors"]] == ["spec.validations[0].expression"]


@pytest.mark.parametrize("ratio", [1, 10, 10.0, 2.5, 20])
def test_numbers_compare_by_value_whatever_their_type(cozyguard: Run, native: Native, write: Write, ratio: Any) -> None:
    policy = native("object.spec.variant >= 1 && object.spec.variant <= 20.0", **COZYSTACK)

    assert cozyguard("check", write("x.json", package("x", ratio)), "--policies", policy).code == 0


def test_a_rule_that_reads_the_object_of_a_deletion_fails_as_the_policy_says(
    cozyguard: Run, native: Native, write: Write
) -> None:
    file = write("x.json", package("x", "big"))

    every = cozyguard(
        "check", file, "--operation", "DELETE", "--policies", native(VARIANTS, operations=["*"], **COZYSTACK)
    )
    others = cozyguard("check", file, "--operation", "DELETE", "--policies", native(VARIANTS, **COZYSTACK))

    assert every.code == 1
    assert "the rule could not be evaluated" in every.out
    assert others.code == 0


def test_one_false_condition_outweighs_one_that_fails(cozyguard: Run, native: Native, write: Write) -> None:
    conditions = [
        {"name": "broken", "expression": "object.metadata.labels['x'] == 'y'"},
        {"name": "gpu-only", "expression": "object.metadata.name == 'cozystack.gpu-operator'"},
    ]
    policy = native("false", matchConditions=conditions, **COZYSTACK)

    assert cozyguard("check", write("x.json", package("other")), "--policies", policy).code == 0
    failed = cozyguard("check", write("x.json", package("cozystack.gpu-operator")), "--policies", policy, "-o", "json")
    assert [result["outcome"] for result in failed.document["results"]] == ["error"]


def test_an_object_without_a_namespace_has_a_null_namespace_object(
    cozyguard: Run, native: Native, write: Write
) -> None:
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "packages.cozystack.io"},
        "spec": {
            "group": "cozystack.io",
            "scope": "Cluster",
            "names": {"kind": "Package", "plural": "packages"},
            "versions": [{"name": "v1alpha1"}],
        },
    }
    policy = native("!('sandbox' in namespaceObject.metadata.labels)", **COZYSTACK)

    answer = cozyguard(
        "check", write("x.json", package("x")), write("crd.json", crd), "--policies", policy, "-o", "json"
    )

    assert [result["outcome"] for result in answer.document["results"]] == ["error"]


def components(**enabled: bool) -> dict[str, Any]:
    made = package("cozystack.kubevirt")
    made["spec"]["components"] = {name.replace("_", "-"): {"enabled": on} for name, on in enabled.items()}
    return made


def test_all_over_a_map_sees_keys(cozyguard: Run, native: Native, write: Write) -> None:
    file = write("x.json", components(kubevirt=True, kubevirt_types=False))
    keys = native("object.spec.components.all(c, !has(c.enabled) || c.enabled)", **COZYSTACK)
    assert cozyguard("check", file, "--policies", keys).code == 0

    values = native("object.spec.components.all(n, object.spec.components[n].enabled)", **COZYSTACK)
    answer = cozyguard("check", file, "--policies", values, "-o", "json")

    assert [result["field"] for result in answer.document["results"]] == ["spec.components.kubevirt-types.enabled"]


def test_has_with_a_missing_step_in_the_middle_is_an_error(cozyguard: Run, native: Native, write: Write) -> None:
    file = write("x.json", package("x"))
    unguarded = native("!has(object.spec.components.kubevirt.values)", **COZYSTACK)
    assert "the rule could not be evaluated" in cozyguard("check", file, "--policies", unguarded).out

    guarded = native("!has(object.spec.components) || !has(object.spec.components.kubevirt.values)", **COZYSTACK)
    assert cozyguard("check", file, "--policies", guarded).code == 0


@pytest.mark.parametrize(("variant", "code"), [("default", 0), ("container", 1)])
def test_a_variable_that_fails_counts_only_where_it_is_used(
    cozyguard: Run, native: Native, write: Write, variant: str, code: int
) -> None:
    variables = [
        {"name": "values", "expression": "object.spec.components.operator.values"},
        {"name": "driver", "expression": "variables.values.driver.enabled"},
    ]
    policy = native("object.spec.variant != 'container' || !variables.driver", variables=variables, **COZYSTACK)

    answer = cozyguard("check", write("x.json", package("x", variant)), "--policies", policy)

    assert answer.code == code
    assert code == 0 or "values" in answer.out


@pytest.mark.parametrize(("length", "code"), [(20, 0), (2500, 1)])
def test_a_loop_in_a_loop_ends_at_the_cost_limit(
    cozyguard: Run, native: Native, write: Write, length: int, code: int
) -> None:
    obj = package("x")
    obj["spec"]["list"] = [f"10DE:{number:04X}" for number in range(length)]
    policy = native("object.spec.list.all(a, object.spec.list.exists_one(b, a == b))", **COZYSTACK)

    answer = cozyguard("check", write("x.json", obj), "--policies", policy)

    assert answer.code == code
    assert code == 0 or "cost" in answer.out


def test_an_expression_that_fails_is_not_called_a_fault_of_the_object(
    cozyguard: Run, native: Native, write: Write
) -> None:
    answer = cozyguard(
        "check",
        write("x.json", package("x", "many")),
        "--policies",
        native("int(object.spec.variant) < 5", **COZYSTACK),
    )

    assert answer.code == 1
    assert "the rule could not be evaluated" in answer.out


def test_an_object_that_gets_its_name_later_is_called_by_its_prefix(
    cozyguard: Run, native: Native, write: Write
) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "infer-"}}

    answer = cozyguard("check", write("x.json", pod), "--policies", native("false", resources="pods"), "-o", "json")

    assert answer.document["results"][0]["resource"]["name"] == "infer-*"
