from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from webhook.engine import compile as compile_
from webhook.engine.compile import CompiledPolicy
from webhook.model.policy import Policy
from webhook.sources import compiled
from webhook.sources.bundled import bundled

POLICY = """\
apiVersion: cozyguard.io/v1alpha1
kind: AdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
  validations:
  - expression: object.spec.x == 1
"""

WARM_LOAD = """\
import sys
from webhook.engine.policyset import PolicySet
from webhook.sources.compiled import load

loaded = load(sys.argv[1:])
assert loaded.policies and not loaded.errors, loaded.errors
PolicySet.link(loaded.policies)
print([name for name in ("pydantic", "yaml", "yaml_rs", "cel_expr_python") if name in sys.modules])
"""


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the cache below a folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_the_bundled_policies_compile_without_a_fault() -> None:
    loaded = compiled.load([bundled()])
    assert loaded.policies
    assert not loaded.errors


def test_a_warm_load_needs_neither_pydantic_nor_yaml_nor_the_cel_library(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(POLICY)
    compiled.load([file])
    warm = subprocess.run([sys.executable, "-c", WARM_LOAD, file], capture_output=True, text=True, check=False)
    assert warm.stdout == "[]\n", warm.stderr


def test_of_a_set_only_the_policy_that_changed_is_compiled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text(POLICY.replace("name: p", f"name: {name}"))
    compiled.load([tmp_path])
    (tmp_path / "b.yaml").write_text(POLICY.replace("name: p", "name: b").replace("== 1", "== 2"))
    made: list[str] = []

    def compile_policy(policy: Policy) -> CompiledPolicy:
        made.append(policy.name)
        return compile_.compile_policy(policy)

    monkeypatch.setattr(compiled, "compile_policy", compile_policy)
    loaded = compiled.load([tmp_path])
    assert made == ["b"]
    assert [one.policy.validations[0].expression.text[-1] for one in loaded.policies] == ["1", "2"]


def test_the_faults_of_many_policies_are_all_told_in_order(tmp_path: Path) -> None:
    for number in range(40):
        text = POLICY.replace("name: p", f"name: p{number:02}")
        (tmp_path / f"{number:02}.yaml").write_text(text.replace("== 1", "==") if number % 2 else text)
    loaded = compiled.load([tmp_path])
    assert [one.policy.name for one in loaded.policies] == [f"p{number:02}" for number in range(0, 40, 2)]
    assert [Path(error.file).stem for error in loaded.errors] == [f"{number:02}" for number in range(1, 40, 2)]


def test_a_name_that_is_taken_far_away_is_told_too(tmp_path: Path) -> None:
    for number in range(40):
        (tmp_path / f"{number:02}.yaml").write_text(POLICY.replace("name: p", f"name: p{number % 39:02}"))
    loaded = compiled.load([tmp_path])
    (error,) = loaded.errors
    assert error.message == f"`p00` is taken already, at {tmp_path}/00.yaml:3:18"
    assert len(loaded.policies) == 39


def test_a_policy_and_its_binding_find_each_other_from_far_away(tmp_path: Path) -> None:
    kind, group = "ValidatingAdmissionPolicy", "admissionregistration.k8s.io/v1"
    for number in range(40):
        (tmp_path / f"{number:02}.yaml").write_text(POLICY.replace("name: p", f"name: p{number:02}"))
    native = POLICY.replace("AdmissionPolicy", kind).replace("cozyguard.io/v1alpha1", group)
    (tmp_path / "00.yaml").write_text(native)
    binding = f"kind: {kind}Binding\nmetadata: {{name: b}}\nspec: {{policyName: p, validationActions: [Deny]}}\n"
    (tmp_path / "39.yaml").write_text(f"apiVersion: {group}\n{binding}")
    loaded = compiled.load([tmp_path])
    assert (loaded.errors, loaded.notices) == ((), ())
    assert {one.policy.binding for one in loaded.policies} == {"", "b"}


def test_a_changed_file_is_compiled_again(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(POLICY)
    assert not compiled.load([file]).errors
    file.write_text(POLICY.replace("== 1", "== "))
    (error,) = compiled.load([file]).errors
    assert (error.file, error.line, error.path) == (str(file), 8, "spec.validations[0].expression")


def test_a_policy_that_does_not_compile_does_not_keep_the_others_out(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(POLICY)
    (tmp_path / "b.yaml").write_text(POLICY.replace("name: p", "name: q").replace("== 1", "== "))
    loaded = compiled.load([tmp_path / "a.yaml", tmp_path / "b.yaml"])
    assert [each.policy.name for each in loaded.policies] == ["p"]
    assert {error.file for error in loaded.errors} == {str(tmp_path / "b.yaml")}


def test_a_fault_of_a_policy_with_two_bindings_is_told_once(tmp_path: Path) -> None:
    kind = "ValidatingAdmissionPolicy"
    native = POLICY.replace("AdmissionPolicy", kind).replace("cozyguard.io/v1alpha1", "admissionregistration.k8s.io/v1")
    native = native.replace("== 1", "== ")
    head = native.splitlines()[0]
    bindings = [
        f"{head}\nkind: {kind}Binding\nmetadata: {{name: {name}}}\nspec: {{policyName: p, validationActions: [Deny]}}\n"
        for name in ("one", "two")
    ]
    (tmp_path / "p.yaml").write_text("---\n".join([native, *bindings]))
    assert len(compiled.load([tmp_path / "p.yaml"]).errors) == 1
