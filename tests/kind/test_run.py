"""The script of `make kind-e2e`: linted, and run with programs that only write down what they are asked."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.chart.helm import CHART

ROOT = Path(__file__).parents[2]
SCRIPT = Path(__file__).with_name("run.sh")

_REGISTERED = "validate.cozyguard.io"
_KUBECTL = """
case "$*" in
  *gpu-operator.yaml*) [ -e {state}/installed ] || exit 0; echo '[package-variant-known]' >&2; exit 1 ;;
  *webhookconfiguration*) [ -e {state}/installed ] && echo {registered} ;;
esac
"""
_HELM = """
case "$1" in
  install) touch {state}/installed ;;
  uninstall) {uninstall} ;;
esac
"""
_DOCKER = '[ "$1" = network ] && echo "fc00::1 172.18.0.1 "; true'


class Site:
    """A checkout whose programs do nothing; `log` has a line for each that was run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / "bin"
        for place in (self.bin, folder / ".venv" / "bin", folder / "tests" / "kind"):
            place.mkdir(parents=True)
        (folder / "tests" / "kind" / "run.sh").write_text(SCRIPT.read_text())
        for tool in ("bash", "dirname", "grep", "mktemp", "rm", "sleep", "touch", "tr"):
            (self.bin / tool).symlink_to(shutil.which(tool) or tool)
        self.program("kind")
        self.program("docker", _DOCKER)
        self.program("kubectl", _KUBECTL.format(state=folder, registered=_REGISTERED))
        self.program("helm", _HELM.format(state=folder, uninstall=f"rm {folder}/installed"))
        self.program("pytest", 'echo "$COZYGUARD_E2E_ADDRESS" >> ' + str(folder / "address"), folder / ".venv" / "bin")

    def program(self, name: str, body: str = "", where: Path | None = None) -> None:
        file = (where or self.bin) / name
        file.write_text(f'#!/bin/sh\necho "{name} $*" >> {self.folder}/log\n{body}\n')
        file.chmod(0o755)

    def run(self, **environment: str) -> subprocess.CompletedProcess[str]:
        path = {"PATH": str(self.bin), "TMPDIR": str(self.folder)}
        return subprocess.run(
            [self.bin / "bash", str(self.folder / "tests" / "kind" / "run.sh")],
            env=path | environment,
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def log(self) -> list[str]:
        return (self.folder / "log").read_text().splitlines()


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_shellcheck_finds_nothing() -> None:
    shellcheck = Path(sys.executable).with_name("shellcheck")
    done = subprocess.run([shellcheck, SCRIPT], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_there_is_a_machine_for_each_replica() -> None:
    nodes = yaml.safe_load(SCRIPT.with_name("cluster.yaml").read_text())["nodes"]
    replicas = yaml.safe_load((CHART / "values.yaml").read_text())["replicas"]
    assert [node["role"] for node in nodes].count("worker") == replicas


def test_every_file_that_the_script_names_is_there() -> None:
    named = set(re.findall(r"(?:tests|examples|charts)/[\w./-]+", SCRIPT.read_text()))
    assert len(named) >= 5
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_suite_runs_then_the_chart_and_the_cluster_is_deleted(site: Site) -> None:
    done = site.run()
    assert done.returncode == 0, done.stderr
    steps = ["kind create cluster", "pytest tests/e2e", "docker build", "kind load", "helm install", "helm uninstall"]
    order = [next(at for at, line in enumerate(site.log) if line.startswith(step)) for step in steps]
    assert order == sorted(order)
    assert site.log[-1] == "kind delete cluster --name cozyguard-e2e"
    assert (site.folder / "address").read_text() == "172.18.0.1\n"


def test_a_registration_that_stays_behind_fails_the_run(site: Site) -> None:
    site.program("helm", _HELM.format(state=site.folder, uninstall=":"))
    done = site.run()
    assert done.returncode == 1
    assert "the webhook configurations are still there" in done.stderr
    assert site.log[-1].startswith("kind delete")


def test_the_cluster_is_deleted_when_a_step_fails_unless_it_is_to_be_kept(site: Site) -> None:
    site.program("docker", "exit 1")
    assert site.run().returncode == 1
    assert site.log[-1].startswith("kind delete")
    kept = site.run(KEEP="1")
    assert "kept: export KUBECONFIG=" in kept.stdout
    assert not site.log[-1].startswith("kind delete")


def test_a_program_that_is_missing_is_named(site: Site) -> None:
    (site.bin / "kind").unlink()
    done = site.run()
    assert (done.returncode, done.stderr) == (2, "kind-e2e needs kind on the PATH\n")
