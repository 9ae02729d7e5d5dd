import json
from collections.abc import Callable
from pathlib import Path
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


def test_a_function_that_takes_text_fails_on_a_number_and_says_where(
    cozyguard: Run, native: Native, write: Write
) -> None:
    obj = package("x")
    obj["spec"]["nodeGroups"] = {"gpu": {"resources": {"cpu": 8}}}
    file = write("x.json", obj)
    rule = "object.spec.nodeGroups.all(n, quantity({}).compareTo(quantity('16')) <= 0)"
    cpu = "object.spec.nodeGroups[n].resources.cpu"

    failed = cozyguard("check", file, "--policies", native(rule.format(cpu), **COZYSTACK), "-o", "json")
    mended = cozyguard("check", file, "--policies", native(rule.format(f"string({cpu})"), **COZYSTACK))

    (result,) = failed.document["results"]
    assert (failed.code, mended.code) == (1, 0)
    assert (result["outcome"], result["field"]) == ("error", "spec.nodeGroups.gpu.resources.cpu")
    assert "no such overload: quantity(int)" in result["message"]


@pytest.mark.parametrize(("action", "code"), [("Deny", 1), ("Allow", 0), ("Fail", 2)])
def test_params_that_do_not_exist_refuse_although_the_binding_only_warns(
    cozyguard: Run, native: Native, write: Write, action: str, code: int
) -> None:
    file = native("params.x == 1", actions=["Warn"], paramKind={"apiVersion": "v1", "kind": "ConfigMap"}, **COZYSTACK)
    policy, binding = (json.loads(document) for document in Path(file).read_text().split("---"))
    binding["spec"]["paramRef"] = {"name": "gone", "namespace": "lab", "parameterNotFoundAction": action}
    policies = write("policies.yaml", f"{json.dumps(policy)}\n---\n{json.dumps(binding)}\n")

    answer = cozyguard("check", write("x.json", package("x")), "--closed-world", "--policies", policies, "-o", "json")

    assert answer.code == code
    if action == "Deny":
        (result,) = answer.document["results"]
        assert (
            "there is no ConfigMap lab/gone, and parameterNotFoundAction is `Deny` (policies.yaml:" in result["message"]
        )
        assert result["message"].endswith(": spec.paramRef)"), "the fault is in the binding"
    if action == "Fail":
        (error,) = answer.document["policyErrors"]
        assert error["path"] == "spec.paramRef.parameterNotFoundAction"
        assert error["message"] == "got `Fail`, want `Allow` or `Deny`"


def test_an_empty_list_of_one_patch_can_be_filled_by_the_next(cozyguard: Run, write: Write) -> None:
    """The API server loses it in between, because it reads the Pod into its type: docs/compatibility.md."""
    empty = "has(object.spec.env) ? [] : [JSONPatch{op: 'add', path: '/spec/env', value: []}]"
    filled = "[JSONPatch{op: 'add', path: '/spec/env/-', value: Object.spec.env{name: 'A', value: 'all'}}]"
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["packages"], "operations": ["CREATE"]}
    mutations = [{"patchType": "JSONPatch", "jsonPatch": {"expression": text}} for text in (empty, filled)]
    spec = {"matchConstraints": {"resourceRules": [rule]}, "reinvocationPolicy": "Never", "mutations": mutations}
    head = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": "env"}}
    policy = {**head, "kind": "MutatingAdmissionPolicy", "spec": spec}
    binding = {**head, "kind": "MutatingAdmissionPolicyBinding", "spec": {"policyName": "env"}}
    policies = write("policies.yaml", f"{json.dumps(policy)}\n---\n{json.dumps(binding)}\n")

    answer = cozyguard("check", write("x.json", package("x")), "--policies", policies, "-o", "json")

    made = [operation for change in answer.document["patches"] for operation in change["operations"]]
    assert [(one["path"], one["value"]) for one in made] == [
        ("/spec/env", []),
        ("/spec/env/0", {"name": "A", "value": "all"}),
    ]


def test_an_object_that_gets_its_name_later_is_called_by_its_prefix(
    cozyguard: Run, native: Native, write: Write
) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "infer-"}}

    answer = cozyguard("check", write("x.json", pod), "--policies", native("false", resources="pods"), "-o", "json")

    assert answer.document["results"][0]["resource"]["name"] == "infer-*"
