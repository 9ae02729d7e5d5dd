from __future__ import annotations

import json
from pathlib import Path

import pytest

from webhook.cli import main

POLICY = """\
apiVersion: cozyguard.io/v1alpha1
kind: AdmissionPolicy
metadata: {name: size}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}
    - {apiGroups: [""], apiVersions: [v1], resources: [secrets], operations: [CREATE]}
  validations:
  - expression: "!has(object.data) || int(object.data.size) < 3"
    message: too big
"""
SUITE = """\
apiVersion: cozyguard.io/v1alpha1
kind: PolicyTest
policies: [policy.yaml]
cases:
- name: one is fine
  object: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {size: "1"}}
  expect: {outcome: allow}
- name: five is too big
  object: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {size: "5"}}
  expect: {outcome: deny}
"""
WHOLE = """\
- name: three is too big
  object: {apiVersion: v1, kind: Secret, metadata: {name: a}, data: {size: "3"}}
  expect: {outcome: deny}
- name: nothing is fine
  object: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
  expect: {outcome: allow}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "policy.yaml").write_text(POLICY)
    (tmp_path / "tests.yaml").write_text(SUITE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_no_case_reaches_is_listed_with_its_place(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", ".", "--coverage", "--fail-under", "100"]) == 1
    out = capsys.readouterr().out
    assert "policy.yaml:10:18: never true: !has(object.data) (spec.validations[0].expression)" in out
    assert "never matched: resourceRules[1]" in out
    assert "covered 6 of 8 outcomes of 1 policy: 75 %, want 100 %" in out


def test_all_is_covered_once_each_part_has_come_out_both_ways(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "tests.yaml").write_text(SUITE + WHOLE)
    assert main(["test", "--coverage", "--fail-under", "100", "."]) == 0
    assert "covered 8 of 8 outcomes of 1 policy: 100 %" in capsys.readouterr().out


def test_a_policy_that_no_suite_has_is_not_covered(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "other.yaml").write_text(POLICY.replace("name: size", "name: other"))
    main(["test", ".", "--coverage", "-o", "json"])
    coverage = json.loads(capsys.readouterr().out)["coverage"]
    assert [(one["policy"], one["reached"]) for one in coverage["policies"]] == [("other", 0), ("size", 6)]


def test_the_page_needs_nothing_else_and_escapes_what_it_shows(folder: Path) -> None:
    (folder / "policy.yaml").write_text(POLICY.replace("too big", "<b>too big</b>"))
    assert main(["test", ".", "--coverage-html", "coverage.html"]) == 0
    page = (folder / "coverage.html").read_text()
    assert "&lt;b&gt;too big&lt;/b&gt;" in page
    assert "never true: <code>!has(object.data)</code>" in page
    assert "src=" not in page
    assert "://" not in page


def test_survivors_are_listed_with_a_change_of_a_case_that_kills_them(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["test", ".", "--mutants", "--fail-under", "100"]) == 1
    out = capsys.readouterr().out
    assert "survived: 3 → 4" in out
    assert "survived: !has(object.data) → false" in out
    assert "killed by: case `one is fine` with object.data left out: allow, the mutant: error" in out


def test_an_explained_survivor_is_no_failure_and_an_explanation_without_one_is(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    explained = "mutants:\n- {at: 'spec.validations[0].expression', why: it is a toy}\n"
    (folder / "tests.yaml").write_text(SUITE + explained)
    assert main(["test", ".", "--mutants", "--fail-under", "100"]) == 0
    (folder / "tests.yaml").write_text(SUITE + WHOLE + explained)
    assert main(["test", ".", "--mutants"]) == 2
    assert "explains no mutant that survives" in capsys.readouterr().err


def test_an_explained_outcome_is_no_gap_and_an_explanation_of_what_is_reached_is_a_fault(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    explained = """\
unreached:
- {at: 'spec.validations[0].expression', outcome: 'never true: !has(object.data)', why: it is a toy}
- {at: 'spec.matchConstraints.resourceRules[1]', why: secrets are none of ours}
"""
    (folder / "tests.yaml").write_text(SUITE + explained)
    assert main(["test", ".", "--coverage", "--fail-under", "100"]) == 0
    assert "covered 6 of 8 outcomes of 1 policy, 2 explained: 100 %" in capsys.readouterr().out
    (folder / "tests.yaml").write_text(SUITE + WHOLE + explained)
    assert main(["test", ".", "--coverage"]) == 2
    assert "tests.yaml:18:8: error: unreached[0].at: explains nothing" in capsys.readouterr().err


def test_an_explanation_of_what_was_never_evaluated_holds_for_its_parts(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "'size ' + (object.data.size == '5' ? 'five' : 'many')"
    (folder / "policy.yaml").write_text(POLICY + f'    messageExpression: "{words}"\n')
    allowed = SUITE[: SUITE.index("- name: five")]
    explained = f'- {{at: "spec.validations[0].messageExpression", outcome: "never evaluated: {words}", why: a toy}}\n'
    (folder / "tests.yaml").write_text(f"{allowed}unreached:\n{explained}")
    main(["test", ".", "--coverage"])
    out = capsys.readouterr().out
    assert "messageExpression" not in out
    assert ", 3 explained: " in out


def test_mutants_are_made_only_of_policies_whose_cases_pass(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "tests.yaml").write_text(SUITE.replace("deny", "allow"))
    assert main(["test", ".", "--mutants"]) == 1
    assert "whose cases all pass" in capsys.readouterr().err


def test_cases_are_chosen_by_a_part_of_their_name(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", ".", "--run", "/^five/"]) == 0
    assert "tested 1 case of 1 suite" in capsys.readouterr().out
    assert main(["test", ".", "--run", "six"]) == 2


def test_a_threshold_without_a_measure_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", ".", "--fail-under", "90"]) == 2
    assert "`--fail-under` is about" in capsys.readouterr().err


def test_without_paths_the_bundled_policies_are_measured(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setattr("webhook.cli.test.bundled", lambda: folder)
    assert main(["test", "--coverage"]) == 0
    assert "covered 6 of 8 outcomes" in capsys.readouterr().out


def test_processes_change_nothing_of_what_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "more").mkdir()
    (folder / "more" / "tests.yaml").write_text(SUITE.replace("policy.yaml", "../policy.yaml") + WHOLE)
    told = []
    for jobs in ("1", "2"):
        assert main(["test", ".", "--coverage", "--mutants", "-o", "json", "--jobs", jobs]) == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]
    assert json.loads(told[0])["mutants"]["survived"] == 0


def test_policies_made_from_one_document_are_measured_one_by_one(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "policy.yaml").write_text(
        """\
apiVersion: policies.kyverno.io/v1
kind: ValidatingPolicy
metadata: {name: size}
spec:
  autogen: {podControllers: {controllers: [jobs]}}
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
  validations: [{expression: object.spec.hostname != "a"}]
"""
    )
    (folder / "tests.yaml").write_text(
        """\
apiVersion: cozyguard.io/v1alpha1
kind: PolicyTest
policies: [policy.yaml]
cases:
- name: a pod
  object: {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {hostname: a}}
  expect: {outcome: deny}
"""
    )
    assert main(["test", ".", "--coverage"]) == 0
    out = capsys.readouterr().out
    assert 'policy.yaml:8:51: never true: object.spec.hostname != "a" (spec.validations[0].expression)' in out
    assert "policy.yaml:8:51: never evaluated: object.spec.template.spec.hostname" in out
    assert "of 2 policies" in out
