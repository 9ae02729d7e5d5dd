"""`check --kustomize` and `--helm`, with the tools themselves."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.controlplane import binaries

Run = Callable[..., Any]
Write = Callable[[str, Any], str]
Package = Callable[[str], str]

TEMPLATE = """\
apiVersion: cozystack.io/v1alpha1
kind: Package
metadata: {name: cozystack.gpu-operator, namespace: {{ .Release.Namespace }}}
spec:
  variant: {{ .Values.variant }}
"""


@pytest.fixture(scope="session")
def tools() -> str:
    """A PATH with helm and kubectl."""
    helm = binaries.helm()
    return os.pathsep.join([str(helm.parent), str(Path(sys.executable).parent), os.defpath])


@pytest.fixture
def chart(write: Write) -> str:
    write("charts/app/Chart.yaml", "apiVersion: v2\nname: app\nversion: 0.1.0\n")
    write("charts/app/values.yaml", "variant: container\n")
    write("charts/app/templates/gpu.yaml", TEMPLATE)
    return "charts/app"


def test_what_a_kustomization_builds_is_judged(
    cozyguard: Run, write: Write, package: Package, tools: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", tools)
    package("container")
    patch = json.dumps([{"op": "replace", "path": "/spec/variant", "value": "contaner"}])
    write(
        "kustomization.yaml", {"resources": ["gpu.yaml"], "patches": [{"target": {"kind": "Package"}, "patch": patch}]}
    )

    answer = cozyguard("check", "--kustomize", ".", "--release", "1.6", "--policy", "package-variant-known")

    assert answer.code == 1, answer.err
    assert answer.out.startswith("kustomize:.:6:12: error: variant `contaner` does not exist in Cozystack 1.6")
    assert "--fix" not in answer.out, "there is no file that it could mend"


def test_what_a_chart_renders_with_these_values_is_judged(
    cozyguard: Run, write: Write, chart: str, tools: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", tools)
    check = ("check", "--helm", chart, "--release", "1.6", "--policy", "package-variant-known", "-o", "json")
    values = write("prod.yaml", "variant: contaner\n")

    assert cozyguard(*check).findings == []
    answer = cozyguard(*check, "-f", values)
    assert answer.findings == [("deny", "package-variant-known", "spec.variant")]
    assert answer.document["results"][0]["source"]["file"] == f"helm:{chart}"


@pytest.mark.parametrize("name", ["My_Chart 2", "-x", "a" * 60, "app:1.2.3", "é"])
def test_a_chart_may_have_any_name(
    cozyguard: Run, write: Write, chart: str, tools: str, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("PATH", tools)
    Path(chart).rename(name)
    values = write("-values.yaml", "variant: contaner\n")
    check = ("check", f"--helm={name}", f"--values={values}", "--release", "1.6", "--policy", "package-variant-known")

    answer = cozyguard(*check, "-o", "json")

    assert (answer.err, answer.findings) == ("", [("deny", "package-variant-known", "spec.variant")])


@pytest.mark.parametrize("tool", ["helm", "kustomize"])
def test_what_looks_like_an_option_of_the_tool_is_a_name(
    cozyguard: Run, tools: str, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    monkeypatch.setenv("PATH", tools)

    answer = cozyguard("check", f"--{tool}=--help")

    assert (answer.code, answer.out) == (2, "")
    assert "cannot be rendered: " in answer.err


def test_what_cannot_be_rendered_says_why_in_the_words_of_the_tool(
    cozyguard: Run, write: Write, chart: str, tools: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", tools)
    write("charts/app/templates/gpu.yaml", "{{ nonsense }}")

    answer = cozyguard("check", "--helm", chart)

    assert answer.code == 2
    assert f"`helm:{chart}` cannot be rendered: " in answer.err
    assert 'function "nonsense" not defined' in answer.err
    assert cozyguard("check", "--kustomize", "nowhere").code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--helm", "app"], "`helm:app` cannot be rendered: helm is not on the PATH"),
        (["--kustomize", "."], "`kustomize:.` cannot be rendered: kustomize or kubectl is not on the PATH"),
        (["-f", "prod.yaml", "gpu.yaml"], "`--values` are those of a chart: name it with `--helm CHART`"),
        (["--helm", "app", "--fix"], "`--fix` does not go with `--helm`: mend what it is rendered from"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_judged(
    cozyguard: Run, arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    answer = cozyguard("check", *arguments)

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"error: {message}")
