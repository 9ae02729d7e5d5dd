"""The image: what it is made of, and its build, carried out offline without an engine."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest

import webhook
from tests.chart.helm import CHART
from tests.image.dockerfile import ROOT, TEXT, Build, stage

LOCKS = [ROOT / "requirements.lock", ROOT / "requirements-build.lock"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def _python_with_pip(folder: Path) -> Path:
    venv.create(folder, with_pip=True)
    return folder / "bin"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with pip and nothing else, as the base image has one; gives the folder of its programs."""
    return _python_with_pip(tmp_path_factory.mktemp("python"))


@pytest.fixture(scope="module")
def wheelhouse(python: Path) -> Path:
    """All wheels of both locks, fetched as the Dockerfile says, once for each state of the locks."""
    state = hashlib.sha256(b"".join(lock.read_bytes() for lock in LOCKS) + sys.version.encode()).hexdigest()[:16]
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cozyguard-wheelhouse"
    folder = base / state
    if not folder.is_dir():
        command = re.search(r"^# +(pip download .*)$", TEXT, re.MULTILINE)
        assert command
        partial = base / f".{state}.{os.getpid()}"
        line = f"{python}/{command[1]}".replace("--dest wheelhouse", f"--dest {partial}")
        subprocess.run(line.split(), cwd=ROOT, check=True, capture_output=True)
        partial.rename(folder)
    return folder


@pytest.fixture(scope="module")
def built(python: Path, wheelhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Build:
    """The stage `builder`, carried out."""
    folder = tmp_path_factory.mktemp("image")
    (folder / "opt").mkdir()
    (folder / "opt" / "wheelhouse").symlink_to(wheelhouse)
    build = Build(folder, f"{python}:/usr/bin:/bin", {"PIP_NO_INDEX": "1"})
    build.carry_out(stage("builder"))
    return build


def test_hadolint_finds_nothing() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([hadolint, ROOT / "Dockerfile"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_base_is_pinned_and_no_other_is_used() -> None:
    bases = re.findall(r"^FROM (\S+)", TEXT, re.MULTILINE)
    assert bases == ["scratch", "${BASE}", "${BASE}"]
    assert re.search(r"^ARG BASE=python:3\.13-slim-trixie@sha256:[0-9a-f]{64}$", TEXT, re.MULTILINE)


def test_it_runs_as_the_user_that_the_chart_names() -> None:
    (user,) = (rest for word, rest in stage("") if word == "USER")
    assert user == "65532:65532"
    pod = (CHART / "templates" / "_helpers.tpl").read_text()  # what both kinds of pods have
    assert "runAsUser: 65532" in pod
    assert "runAsGroup: 65532" in pod


def test_it_says_what_it_is() -> None:
    labels = [rest for word, rest in stage("") if word == "LABEL"]
    assert len(labels) == 1
    assert f"VERSION={webhook.__version__}" in [rest for word, rest in stage("") if word == "ARG"]
    for name in ("title", "source", "licenses", "version", "revision"):
        assert f"org.opencontainers.image.{name}=" in labels[0]


def test_only_what_is_copied_is_sent_to_the_engine() -> None:
    sent = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = {source for word, rest in stage("builder") if word == "COPY" for source in rest.split()[:-1]}
    assert sent == copied


def test_the_chart_mounts_nothing_over_the_cache_of_compiled_policies() -> None:
    (environment,) = (rest for word, rest in stage("") if word == "ENV")
    assert "XDG_CACHE_HOME=/var/cache/cozyguard" in environment
    assert "/var" not in (CHART / "templates" / "deployment.yaml").read_text()


@pytest.mark.parametrize(
    ("lock", "wanted"),
    [
        ("requirements.lock", PROJECT["project"]["dependencies"]),
        ("requirements-build.lock", [*PROJECT["dependency-groups"]["build"], *PROJECT["build-system"]["requires"]]),
    ],
)
def test_the_locks_pin_all_that_is_wanted_by_hash(lock: str, wanted: list[str]) -> None:
    """If this fails: `make lock`."""
    text = (ROOT / lock).read_text()
    pinned = dict(re.findall(r"^([a-z0-9-]+)==(\S+)(?: ;.*)? \\\n    --hash=", text, re.MULTILINE))
    assert len(pinned) == len(re.findall(r"^[a-z]", text, re.MULTILINE)), "some have no hash"
    for line in wanted:
        found = re.match(r"([a-z0-9-]+)>=([\d.]+)", line)
        assert found
        assert _numbers(pinned[found[1]]) >= _numbers(found[2]), line


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)]


def test_the_image_holds_the_program_its_policies_and_no_pip(built: Build) -> None:
    bin_ = Path(built.below("/opt/cozyguard/bin"))
    assert (bin_ / "cozyguard").exists()
    assert not list(bin_.glob("pip*"))
    assert built.run(f"{bin_}/cozyguard --version").strip().endswith(webhook.__version__)
    assert f"with {len(list((ROOT / 'policies').glob('*/*/policy.yaml')))} policies" in built.run(
        f"{bin_}/cozyguard check {ROOT}/examples/manifests/allowed.yaml"
    )


def test_the_modules_are_compiled(built: Build) -> None:
    packages = Path(built.below("/opt/cozyguard/lib"))
    sources = [file for file in packages.rglob("*.py") if "lib2to3" not in file.parts]
    compiled = {file.name.partition(".")[0] for file in packages.rglob("webhook/**/*.pyc")}
    assert sources
    assert {file.stem for file in packages.rglob("webhook/**/*.py")} <= compiled


def test_the_policies_are_compiled_and_found_to_be_in_a_layer(built: Build) -> None:
    """A layer keeps whole seconds, and hands the cache to the user that runs."""
    cache = Path(built.below("/var/cache/cozyguard/cozyguard"))
    entries = set(cache.iterdir())
    assert not stat.S_IMODE(cache.stat().st_mode) & 0o022
    for file in Path(built.below("/opt/cozyguard/lib")).rglob("*.py"):
        assert file.stat().st_mtime_ns % 1_000_000_000 == 0, file
    program = (
        "from webhook.sources import compiled\n"
        "from webhook.sources.bundled import bundled\n"
        "def never(files): raise AssertionError('compiled anew')\n"
        "print(len(compiled.load([bundled()], never).policies))"
    )
    (cache.parent / "try.py").write_text(program)
    assert int(built.run(f"{built.below('/opt/cozyguard/bin')}/python {cache.parent}/try.py")) > 50
    assert set(cache.iterdir()) == entries
