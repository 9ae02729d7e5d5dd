from __future__ import annotations

from pathlib import Path

import pytest

from webhook.sources import policies
from webhook.sources.policies import Loaded

SPEC = """\
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
  validations: [{expression: "true"}]
"""


def policy(name: str) -> str:
    return f"apiVersion: cozyguard.io/v1alpha1\nkind: AdmissionPolicy\nmetadata: {{name: {name}}}\n{SPEC}"


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def names(loaded: Loaded) -> list[str]:
    assert not loaded.errors
    return [each.name for each in loaded.policies]


def test_a_folder_gives_its_policies_in_order_of_names(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "b/two/policy.yaml": policy("two"),
            "a/one/policy.yaml": policy("one"),
            "three.yml": policy("three"),
            "four.json": '{"apiVersion": "cozyguard.io/v1alpha1", "kind": "AdmissionPolicyList", "items": []}',
        },
    )
    assert names(policies.load([tmp_path])) == ["three", "one", "two"]


def test_what_else_lies_in_a_folder_is_passed_over(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "one/policy.yaml": policy("one"),
            "one/tests.yaml": "apiVersion: cozyguard.io/v1alpha1\nkind: PolicyTest\ncases: [not: read",
            "more-tests.yaml": "apiVersion: cozyguard.io/v1alpha1\nkind: PolicyTest\n",
            "catalog/1.6.yaml": "version: '1.6'\n",
            "deployment.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {labels: {for: cozyguard.io/x}}\n",
            "README.md": "kind: AdmissionPolicy",
            ".hidden/policy.yaml": policy("one"),
        },
    )
    assert names(policies.load([tmp_path])) == ["one"]


def test_a_mounted_config_map_gives_each_policy_once(tmp_path: Path) -> None:
    write(tmp_path, {"..2026/one/policy.yaml": policy("one"), "..2026/two.yaml": policy("two")})
    (tmp_path / "..data").symlink_to("..2026")
    (tmp_path / "one").symlink_to("..data/one")
    (tmp_path / "two.yaml").symlink_to("..data/two.yaml")
    assert names(policies.load([tmp_path])) == ["two", "one"]


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    write(tmp_path, {"a/policy.yaml": policy("one")})
    (tmp_path / "a/up").symlink_to("..")
    assert names(policies.load([tmp_path])) == ["one"]


def test_a_file_that_is_given_twice_is_read_once(tmp_path: Path) -> None:
    write(tmp_path, {"a/policy.yaml": policy("one")})
    assert names(policies.load([tmp_path, tmp_path / "a/policy.yaml"])) == ["one"]


def test_a_list_gives_each_of_its_items_with_its_own_place(tmp_path: Path) -> None:
    items = "".join(
        "- " + text.replace("\n", "\n  ").rstrip() + "\n" for text in (policy("one"), policy("two").replace("true", ""))
    )
    write(tmp_path, {"list.yaml": f"apiVersion: v1\nkind: List\nitems:\n{items}"})
    loaded = policies.load([tmp_path])
    assert [each.name for each in loaded.policies] == ["one"]
    (error,) = loaded.errors
    assert (error.line, error.path) == (17, "spec.validations[0].expression")


def test_a_name_that_is_taken_is_an_error_that_names_both_places(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": policy("one"), "b.yaml": policy("one")})
    loaded = policies.load([tmp_path])
    assert [each.location.file for each in loaded.policies] == [str(tmp_path / "a.yaml")]
    (error,) = loaded.errors
    assert str(error) == (f"{tmp_path}/b.yaml:3:18: metadata.name: `one` is taken already, at {tmp_path}/a.yaml:3:18")


def test_a_policy_whose_name_is_taken_is_told_its_other_faults_too(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": policy("one"), "b.yaml": policy("one").replace("expression", "expresion")})
    paths = [error.path for error in policies.load([tmp_path]).errors]
    assert paths == ["metadata.name", "spec.validations[0].expression", "spec.validations[0].expresion"]


@pytest.mark.parametrize("file", ["policy.yaml", "other.yaml"])
def test_a_file_that_is_about_policies_can_hold_nothing_else(file: str, tmp_path: Path) -> None:
    write(tmp_path, {file: policy("one") + "---\napiVersion: v1\nkind: ConfigMap\n"})
    loaded = policies.load([tmp_path])
    (error,) = loaded.errors
    assert (error.line, error.path) == (10, "kind")
    assert error.message.startswith("got `ConfigMap`, want one of `AdmissionPolicy`,")


def test_a_kind_that_is_spelled_wrong_is_not_passed_over(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": policy("one").replace("AdmissionPolicy", "AdmisionPolicy")})
    (error,) = policies.load([tmp_path]).errors
    assert error.message.endswith("did you mean `AdmissionPolicy`?")


def test_a_named_file_of_another_kind_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, {"tests.yaml": "apiVersion: cozyguard.io/v1alpha1\nkind: PolicyTest\n"})
    (error,) = policies.load([tmp_path / "tests.yaml"]).errors
    assert error.message.startswith("got `PolicyTest`, want one of")


@pytest.mark.parametrize("files", [{}, {"a.txt": "x"}, {"a.yaml": "a: 1"}])
def test_a_folder_without_policies_is_an_error(files: dict[str, str], tmp_path: Path) -> None:
    write(tmp_path, files)
    assert [str(error) for error in policies.load([tmp_path]).errors] == [f"{tmp_path}: holds no policies"]


def test_a_path_that_is_not_there_is_an_error_and_the_others_are_read(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": policy("one")})
    loaded = policies.load([tmp_path / "gone", tmp_path / "a.yaml"])
    assert [each.name for each in loaded.policies] == ["one"]
    assert [str(error) for error in loaded.errors] == [f"{tmp_path}/gone: cannot be read: no such file or directory"]


def test_a_broken_file_does_not_keep_the_others_out(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": "kind: AdmissionPolicy\nspec: [", "b.yaml": policy("two")})
    loaded = policies.load([tmp_path])
    assert [each.name for each in loaded.policies] == ["two"]
    assert [error.file for error in loaded.errors] == [str(tmp_path / "a.yaml")]


def test_the_bundled_policies_load_without_a_fault() -> None:
    loaded = policies.load([policies.bundled()])
    assert loaded.policies
    assert not loaded.errors
    assert not loaded.notices


@pytest.mark.parametrize("content", ["", "  \n", "apiVersion: ["])
def test_a_file_that_is_just_being_written_is_no_policy_that_went_away(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.yaml").write_text(content)
    assert policies.load([tmp_path]).errors
