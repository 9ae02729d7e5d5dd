from __future__ import annotations

from pathlib import Path

import pytest

from webhook.engine.policyset import PolicySet
from webhook.sources import compiled, shipped
from webhook.sources.compiled import Compiled
from webhook.sources.policy_files import PolicyFile

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


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bundle of one policy, installed: a wheel was built of it in another folder."""
    _bundle_is(tmp_path / "checkout", monkeypatch)
    monkeypatch.setattr(shipped, "_SHIPPED", tmp_path / "bundled.pickle")
    shipped.write(tmp_path / "bundled.pickle")
    return _bundle_is(tmp_path / "installed", monkeypatch)


def _bundle_is(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (folder / "area").mkdir(parents=True)
    (folder / "area" / "policy.yaml").write_text(POLICY)
    monkeypatch.setattr(shipped, "bundled", lambda: folder)
    shipped._name.cache_clear()
    return folder


class Making:
    """Compiles, and remembers which files."""

    def __init__(self) -> None:
        self.made: list[str] = []

    def __call__(self, files: tuple[PolicyFile, ...]) -> Compiled:
        self.made += [Path(file.name).name for file in files]
        return compiled.compile_files(files)


def test_what_was_shipped_is_ready_where_it_is_installed(bundle: Path) -> None:
    make = Making()
    loaded = compiled.load([bundle], make)
    assert make.made == []
    assert [one.policy.location.file for one in loaded.policies] == [str(bundle / "area" / "policy.yaml")]
    assert len(PolicySet.link(loaded.policies)) == 1


def test_a_bundle_that_was_edited_is_compiled_anew(bundle: Path) -> None:
    (bundle / "area" / "policy.yaml").write_text(POLICY.replace("== 1", "== 2"))
    make = Making()
    loaded = compiled.load([bundle], make)
    assert make.made == ["policy.yaml"]
    assert loaded.policies[0].policy.validations[0].expression.text.endswith("2")


def test_code_that_was_edited_compiles_anew(bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "module.py").write_text("edited = True\n")
    monkeypatch.setattr(shipped, "_PACKAGE", tmp_path / "code")
    make = Making()
    compiled.load([bundle], make)
    assert make.made == ["policy.yaml"]


def test_of_added_policies_only_these_are_compiled(bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(POLICY.replace("name: p", "name: own"))
    make = Making()
    loaded = compiled.load([bundle, tmp_path / "own.yaml"], make)
    assert make.made == ["own.yaml"]
    assert [one.policy.name for one in loaded.policies] == ["p", "own"]


def test_an_added_policy_cannot_take_the_name_of_a_shipped_one(bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(POLICY)
    loaded = compiled.load([bundle, tmp_path / "own.yaml"])
    (error,) = loaded.errors
    assert f"`p` is taken already, at {bundle}/area/policy.yaml:3:" in str(error)


def test_a_part_of_the_bundle_is_compiled(bundle: Path) -> None:
    (bundle / "other").mkdir()
    (bundle / "other" / "policy.yaml").write_text(POLICY.replace("name: p", "name: other"))
    make = Making()
    compiled.load([bundle / "other"], make)
    assert make.made == ["policy.yaml"]
