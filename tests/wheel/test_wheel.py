"""The wheel: built, installed, and started where nothing was compiled before."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
import trustme

from tests.wheel.installation import ROOT, build, install

Command = list[str | Path]

POLICIES = len(list((ROOT / "policies").glob("*/*/policy.yaml")))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    return build(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that has the wheel."""
    return install(wheel, tmp_path_factory.mktemp("environment"))


@pytest.fixture
def bare(tmp_path: Path) -> Mapping[str, str]:
    """An empty cache, and neither pydantic nor the CEL library: policies can be neither read nor compiled."""
    for name in ("pydantic", "cel_expr_python"):
        (tmp_path / "without").mkdir(exist_ok=True)
        (tmp_path / "without" / f"{name}.py").write_text("raise ImportError('not at a first start')\n")
    return {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path / "without")}


def test_the_first_command_compiles_nothing(installed: Path, bare: Mapping[str, str], tmp_path: Path) -> None:
    command: Command = [installed, "-m", "webhook", "explain", "-o", "json"]
    done = subprocess.run(command, cwd=tmp_path, env=bare, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert len(json.loads(done.stdout)["policies"]) == POLICIES


def test_the_first_server_compiles_nothing(installed: Path, bare: Mapping[str, str], tmp_path: Path) -> None:
    leaf = trustme.CA().issue_cert("localhost")
    leaf.private_key_and_cert_chain_pem.write_to_path(tmp_path / "tls.pem")
    flags = "--host 127.0.0.1 --port 0 --probe-port 0 --tls-cert tls.pem --tls-key tls.pem --drain-seconds 0"
    command: Command = [installed, "-m", "webhook", "serve", *flags.split()]
    with subprocess.Popen(command, cwd=tmp_path, env=bare, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr
        first = server.stderr.readline()
        server.terminate()
    assert '"msg":"serving"' in first


def test_findings_name_the_policies_where_they_are_installed(
    installed: Path, bare: Mapping[str, str], tmp_path: Path
) -> None:
    command: Command = [installed, "-m", "webhook", "explain", "package-variant-known"]
    with_libraries = {name: value for name, value in bare.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=tmp_path, env=with_libraries, capture_output=True, text=True, check=False)
    assert "$ cozyguard check" in done.stdout, "its tests are looked for beside the policy's file"


def test_it_names_no_place_of_the_machine_that_built_it(wheel: Path) -> None:
    compiled = zipfile.ZipFile(wheel).read("webhook/bundled.pickle")
    assert b"packages/package-variant-known/policy.yaml" in compiled
    assert str(ROOT).encode() not in compiled


def test_the_same_tree_gives_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    again = tmp_path / "bundled.pickle"
    command: Command = [sys.executable, "-m", "webhook.sources.shipped", again]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": "0"}, check=True)
    assert again.read_bytes() == zipfile.ZipFile(wheel).read("webhook/bundled.pickle")
