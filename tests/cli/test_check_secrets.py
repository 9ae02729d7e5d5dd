from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]
Write = Callable[[str, Any], str]
Package = Callable[[str], str]
Native = Callable[..., str]


def policy(*sensitive: str, expression: str = "false", field: str = "spec", kind: str = "configmaps") -> dict[str, Any]:
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "resources": [kind], "operations": ["*"]}
    return {
        "apiVersion": "cozyguard.io/v1alpha1",
        "kind": "AdmissionPolicy",
        "metadata": {"name": "strict"},
        "spec": {
            "title": "Strict",
            "sensitiveFields": list(sensitive),
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": expression, "field": field, "message": "not so"}],
        },
    }


@pytest.mark.parametrize("output", ["text", "json", "sarif", "junit", "tap", "github", "gitlab", "html"])
@pytest.mark.parametrize(
    "text",
    [
        "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\ndata:\n  key: aHVudGVyMg==\n",
        '{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}, "stringData": {"key": "aHVudGVyMg=="}}',
    ],
)
@pytest.mark.parametrize("field", ["data.key", "metadata.name"])
def test_values_of_a_secret_are_never_shown(cozyguard: Run, write: Write, text: str, field: str, output: str) -> None:
    file, rules = write("secret.yaml", text), write("policy.json", policy(field=field, kind="secrets"))

    answer = cozyguard("check", file, "--policies", rules, "-o", output)

    assert answer.code == 1
    assert "aHVudGVyMg" not in answer.out + answer.err


def test_another_object_on_the_line_of_a_secret_does_not_show_it(cozyguard: Run, write: Write) -> None:
    secret = '{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}, "data": {"key": "aHVudGVyMg=="}}'
    other = '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "y"}}'
    file = write("list.json", f'{{"apiVersion": "v1", "kind": "List", "items": [{secret}, {other}]}}')

    answer = cozyguard("check", file, "--policies", write("policy.json", policy(field="metadata.name")))

    assert "not so" in answer.out
    assert "aHVudGVyMg" not in answer.out


@pytest.mark.parametrize(
    "text",
    [
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\nspec:\n  password: hunter2\n  size: 3\n",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\nspec: {password: hunter2, size: 3}\n",
    ],
)
@pytest.mark.parametrize("field", ["spec.password", "spec.size", "spec"])
def test_a_sensitive_field_is_never_shown(cozyguard: Run, write: Write, text: str, field: str) -> None:
    rules = write("policy.json", policy("spec.password", field=field))

    answer = cozyguard("check", write("x.yaml", text), "--policies", rules)

    assert answer.code == 1
    assert "hunter2" not in answer.out + answer.err


def test_the_line_of_a_field_beside_a_sensitive_one_is_shown(cozyguard: Run, write: Write) -> None:
    file = write("x.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\nspec:\n  password: a\n  size: 3\n")

    answer = cozyguard("check", file, "--policies", write("policy.json", policy("spec.password", field="spec.size")))

    assert "  6 |   size: 3\n" in answer.out


@pytest.mark.parametrize(
    "expression",
    [
        "[JSONPatch{op: 'replace', path: '/data/key', value: 'Y29yZA=='}]",
        "[JSONPatch{op: 'add', path: '/metadata/annotations', value: {'copy': object.data.key}}]",
        "[JSONPatch{op: 'copy', from: '/data/key', path: '/data/other'}]",
        "[JSONPatch{op: 'move', from: '/data/key', path: '/metadata/moved'}]",
    ],
)
@pytest.mark.parametrize("output", ["text", "json", "sarif", "junit", "tap", "github", "gitlab", "html"])
def test_a_patch_of_a_secret_hides_what_it_brings_and_what_goes(
    cozyguard: Run, write: Write, output: str, expression: str
) -> None:
    rules = policy(kind="secrets")
    del rules["spec"]["validations"]
    rules["spec"]["matchConstraints"]["resourceRules"][0]["operations"] = ["CREATE"]
    rules["spec"]["mutations"] = [{"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}]
    file = write("secret.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\ndata: {key: aHVudGVyMg==}\n")

    answer = cozyguard("check", file, "--policies", write("policy.json", rules), "-o", output)

    if output in ("text", "json"):  # the others tell no patches
        assert "(hidden)" in answer.out or '"op": "move"' in answer.out  # which brings no value of its own
    assert "aHVudGVyMg" not in answer.out
    assert "Y29yZA" not in answer.out
