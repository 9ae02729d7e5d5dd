"""Every step of `docs/ci.md` is run, by the shell that CI uses, with a cozyguard that was installed as the page says."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from webhook.sources import yaml

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
ARCHIVE = "https://github.com/cozyguard/cozyguard/archive/refs/heads/main.tar.gz"
BLOCKS = dict(re.findall(r"```yaml\n# (\S+)\n(.*?)```", PAGE, re.DOTALL))
ACTION, TEMPLATE = ROOT / "action.yml", ROOT / "templates" / "cozyguard.yml"
SCHEMAS = {".github/workflows/cozyguard.yaml": "vendor.github-workflows", ".gitlab-ci.yml": "vendor.gitlab-ci"}

PACKAGES = sysconfig.get_paths()["purelib"]
"""What cozyguard needs, to be found without a network."""


def block(name: str) -> Any:
    [document] = yaml.read(BLOCKS[name], name)
    return document.value


def github_steps() -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = block(".github/workflows/cozyguard.yaml")["jobs"]["policies"]["steps"]
    return steps


def gitlab_job() -> dict[str, Any]:
    job: dict[str, Any] = block(".gitlab-ci.yml")["cozyguard"]
    return job


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs after the page's own command: this checkout for the archive, what it needs from here."""
    python = tmp_path_factory.mktemp("python")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", python], check=True)
    line = f"{sys.executable} -m {gitlab_job()['before_script'][0]}"
    assert line.endswith(f"pip install {ARCHIVE}")
    flags = f"--python {python} install --quiet --no-deps --no-build-isolation"
    command = line.replace(ARCHIVE, shlex.quote(str(ROOT))).replace("pip install", f"pip {flags}")
    subprocess.run(["bash", "-ec", command], check=True, env=os.environ | {"PYTHONPATH": PACKAGES})
    return python / "bin"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of the form that the page describes, which nothing is to be said against."""
    package = {"apiVersion": "cozystack.io/v1alpha1", "kind": "Package", "metadata": {"name": "cozystack.gpu-operator"}}
    (tmp_path / "manifests").mkdir()
    (tmp_path / "manifests" / "gpu.yaml").write_text(json.dumps(package | {"spec": {"variant": "default"}}) + "\n")
    shutil.copytree(ROOT / "policies" / "packages" / "package-variant-known", tmp_path / "policies" / "own")
    for file in (tmp_path / "policies" / "own").iterdir():
        file.write_text(file.read_text().replace("package-variant-known", "own-variant-known"))
    kinds = {"v1": ["Node"], "cozystack.io/v1alpha1": ["Package", "PackageSource"], "kubevirt.io/v1": ["KubeVirt"]}
    lists = [
        {"apiVersion": each, "kind": f"{kind}List", "items": []} for each, all_of in kinds.items() for kind in all_of
    ]
    (tmp_path / "state.yaml").write_text("\n---\n".join(map(json.dumps, lists)))
    return tmp_path


class Shell:
    """Runs lines as CI does: bash, which stops at the first failure."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder = folder
        self.environment = os.environ | {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "PYTHONPATH": PACKAGES,
            "XDG_CACHE_HOME": str(folder / ".cache"),  # as GitLab's job has it
        }

    def run(self, line: str) -> int:
        command = ["bash", "-e", "-o", "pipefail", "-c", line]
        done = subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, text=True)
        print(f"$ {line}\n{done.stdout}{done.stderr}")  # for a test that fails
        return done.returncode


@pytest.fixture
def shell(project: Path, installed: Path) -> Shell:
    """A shell in the project; what one test has compiled is there for the next, as CI keeps it."""
    kept = installed.parent / "cache"
    kept.mkdir(exist_ok=True)
    (project / ".cache").symlink_to(kept)
    return Shell(project, installed)


def broken(project: Path) -> None:
    file = project / "manifests" / "gpu.yaml"
    file.write_text(file.read_text().replace('"default"', '"Default"'))


@pytest.mark.parametrize("name", SCHEMAS)
def test_what_is_to_be_pasted_is_valid(name: str, tmp_path: Path) -> None:
    file = tmp_path / Path(name).name
    file.write_text(BLOCKS[name])

    subprocess.run([sys.executable, "-m", "check_jsonschema", "--builtin-schema", SCHEMAS[name], file], check=True)


def test_the_steps_for_github_pass_and_write_what_is_uploaded(shell: Shell) -> None:
    steps = github_steps()

    assert [shell.run(step["run"]) for step in steps[4:] if "run" in step] == [0, 0, 0]
    [upload] = [step["with"]["sarif_file"] for step in steps if "upload-sarif" in step.get("uses", "")]
    document = json.loads((shell.folder / upload).read_text())
    assert document["runs"][0]["results"] == []


def test_the_steps_for_github_fail_where_a_manifest_is_refused(shell: Shell) -> None:
    broken(shell.folder)

    assert [shell.run(step["run"]) for step in github_steps()[4:] if "run" in step] == [0, 0, 1]
    results = json.loads((shell.folder / "cozyguard.sarif").read_text())["runs"][0]["results"]
    assert {each["ruleId"] for each in results} == {"package-variant-known", "own-variant-known"}
    assert {each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in results} == {
        "manifests/gpu.yaml"
    }


def test_the_job_for_gitlab_passes_and_writes_its_reports(shell: Shell) -> None:
    job = gitlab_job()

    assert [shell.run(line) for line in job["script"]] == [0, 0, 0]
    reports = job["artifacts"]["reports"]
    assert json.loads((shell.folder / reports["codequality"]).read_text()) == []
    assert ET.parse(shell.folder / reports["junit"]).getroot().tag == "testsuites"  # noqa: S314 - our own document
    assert (shell.folder / job["cache"]["paths"][0]).is_dir()


def test_the_job_for_gitlab_fails_where_a_manifest_is_refused(shell: Shell) -> None:
    broken(shell.folder)

    assert [shell.run(line) for line in gitlab_job()["script"]] == [0, 0, 1]
    issues = json.loads((shell.folder / "gl-code-quality-report.json").read_text())
    assert [issue["check_name"] for issue in issues] == ["own-variant-known", "package-variant-known"]


def document(file: Path) -> Any:
    [read] = yaml.read(file.read_text(), file.name)
    return read.value


@pytest.mark.parametrize(("file", "schema"), [(ACTION, "vendor.github-actions"), (TEMPLATE, "vendor.gitlab-ci")])
def test_what_is_to_be_named_instead_is_valid_too(file: Path, schema: str) -> None:
    subprocess.run([sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, file], check=True)


@pytest.mark.parametrize(("manifest", "codes"), [("good", [0, 0]), ("broken", [0, 1])])
def test_the_action_does_with_the_inputs_of_the_page_what_the_steps_do(
    manifest: str, codes: list[int], shell: Shell
) -> None:
    if manifest == "broken":
        broken(shell.folder)
    [step] = block("action")
    action = document(ACTION)
    inputs = {name: given["default"] for name, given in action["inputs"].items()} | step["with"] | {"sarif": "c.sarif"}
    shell.environment |= step["env"]
    steps = [
        each for each in action["runs"]["steps"] if each.get("name") in ("Write findings for code scanning", "Check")
    ]

    def run(each: dict[str, Any]) -> int:
        shell.environment |= {
            name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: inputs[found[1]], value)
            for name, value in each["env"].items()
        }
        return shell.run(each["run"])

    assert [run(each) for each in steps] == codes
    results = json.loads((shell.folder / "c.sarif").read_text())["runs"][0]["results"]
    assert [each["ruleId"] for each in results] == ["package-variant-known"] * codes[1]


@pytest.mark.parametrize(("manifest", "codes"), [("good", [0, 0]), ("broken", [0, 1])])
def test_the_job_that_is_included_does_with_the_variables_of_the_page_what_the_written_one_does(
    manifest: str, codes: list[int], shell: Shell
) -> None:
    if manifest == "broken":
        broken(shell.folder)
    job = document(TEMPLATE)["cozyguard"]
    given = job["variables"] | block("include")["cozyguard"]["variables"]
    shell.environment |= {name: value for name, value in given.items() if name != "XDG_CACHE_HOME"}

    assert [shell.run(line) for line in job["script"]] == codes
    issues = json.loads((shell.folder / job["artifacts"]["reports"]["codequality"]).read_text())
    assert [issue["check_name"] for issue in issues] == ["package-variant-known"] * codes[1]


def commands() -> Iterator[str]:
    for text in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL):
        yield from text.splitlines()


@pytest.mark.parametrize("line", list(commands()))
def test_the_other_commands_run(line: str, shell: Shell) -> None:
    rendered = shell.folder / "manifests" / "gpu.yaml"
    for program in ("helm", "kubectl"):  # what they render is not ours to test
        stand_in = shell.folder / "bin" / program
        stand_in.parent.mkdir(exist_ok=True)
        stand_in.write_text(f"#!/bin/sh\ncat {shlex.quote(str(rendered))}\n")
        stand_in.chmod(0o755)
    shell.environment["PATH"] = f"{shell.folder / 'bin'}:{shell.environment['PATH']}"

    assert shell.run(line) == 0


def hooks() -> dict[str, dict[str, Any]]:
    [document] = yaml.read((ROOT / ".pre-commit-hooks.yaml").read_text(), "hooks")
    return {hook["id"]: hook for hook in document.value}


def test_the_hooks_are_as_pre_commit_wants_them(tmp_path: Path) -> None:
    config = tmp_path / ".pre-commit-config.yaml"
    config.write_text(BLOCKS[".pre-commit-config.yaml"])

    for command, file in (("validate-manifest", ROOT / ".pre-commit-hooks.yaml"), ("validate-config", config)):
        subprocess.run([sys.executable, "-m", "pre_commit", command, file], check=True)
    assert [each["id"] for each in block(config.name)["repos"][0]["hooks"]] == [
        "cozyguard-fix",
        "cozyguard-check",
        "cozyguard-test",
        "cozyguard-lint",
    ]
    assert set(re.findall(r"^\| `(cozyguard-\w+)`", PAGE, re.MULTILINE)) == set(hooks())


def test_each_hook_does_what_the_page_says(shell: Shell) -> None:
    file, before = shell.folder / "manifests" / "gpu.yaml", (shell.folder / "manifests" / "gpu.yaml").read_text()
    broken(shell.folder)

    assert shell.run(f"{hooks()['cozyguard-check']['entry']} manifests/gpu.yaml") == 1
    assert shell.run(f"{hooks()['cozyguard-fix']['entry']} manifests/gpu.yaml") == 0
    assert file.read_text() == before
    assert shell.run(f"{hooks()['cozyguard-test']['entry']} policies/") == 0
    assert shell.run(f"{hooks()['cozyguard-lint']['entry']} policies/") == 0
