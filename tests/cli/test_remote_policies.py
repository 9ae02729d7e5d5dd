"""`--policies git::…` and `oci://…`: from a real repository, and from a real registry."""

import re
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.controlplane import binaries

Run = Callable[..., Any]
Package = Callable[[str], str]

POLICY = Path(__file__).parents[2] / "policies" / "packages" / "package-variant-known"


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A git repository with one policy, and the commit."""
    folder = tmp_path_factory.mktemp("repository")
    place = folder / "policies" / POLICY.name
    place.mkdir(parents=True)
    for file in POLICY.iterdir():
        (place / file.name).write_bytes(file.read_bytes())
    (folder / "README.md").write_text("# policies\n")

    def git(*arguments: str) -> str:
        who = ("-c", "user.name=dev", "-c", "user.email=dev@example.org", "-c", "init.defaultBranch=main")
        ran = subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True)
        return ran.stdout.strip()

    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message", "Add a policy")
    return folder.as_uri(), git("rev-parse", "HEAD")


def test_a_commit_of_a_repository_is_used_and_fetched_once(
    cozyguard: Run, package: Package, repository: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, commit = repository
    reference = f"git::{url}//policies?ref={commit}"
    check = ("check", package("contaner"), "--release", "1.6", "--policies", reference, "-o", "json")

    answer = cozyguard(*check)
    assert (answer.code, answer.err, answer.document["policies"]) == (1, "", 1)
    assert answer.findings == [("deny", "package-variant-known", "spec.variant")]

    monkeypatch.setenv("PATH", "")
    assert cozyguard(*check).findings == answer.findings, "it is in the cache"


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("git::{url}//policies?ref=main", "got ref `main`, want a whole commit"),
        ("git::{url}//policies", "got no ref, want a whole commit"),
        ("git::{url}//policies?ref={short}", "want a whole commit"),
        ("git::{url}//rules?ref={commit}", "the commit has no YAML or JSON file in `rules`"),
        ("git::{url}//README.md?ref={commit}", "the commit has no YAML or JSON file in `README.md`"),
        ("git::--upload-pack=touch x?ref={commit}", "cannot be fetched: "),
        ("git::ext::sh -c date?ref={commit}", "cannot be fetched: transport 'ext' not allowed"),
        ("git::ssh://-oProxyCommand=date/x?ref={commit}", "cannot be fetched: strange hostname"),
        ("git::{url}?ref=" + "0" * 40, "cannot be fetched: "),
        ("git::{url}-none//policies?ref={commit}", "does not appear to be a git repository"),
        ("oci://registry.example.org/policies:v1", "got no digest, want `oci://REGISTRY/NAME@sha256:…`: tags can move"),
        ("oci://registry.example.org/policies@sha256:abc", "got digest `sha256:abc`, want"),
        ("oci://a b/c@sha256:" + "a" * 64, "cannot be fetched: "),
        ("oci://127.0.0.1:1/policies@sha256:" + "a" * 64, "cannot be fetched: "),
    ],
)
def test_what_is_not_pinned_or_not_there_is_refused(
    cozyguard: Run, package: Package, repository: tuple[str, str], reference: str, message: str
) -> None:
    url, commit = repository
    given = reference.format(url=url, commit=commit, short=commit[:12])

    answer = cozyguard("check", package("contaner"), "--policies", given)

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"error: `{given}`")
    assert message in answer.err


@pytest.mark.parametrize("place", ["policies", f"policies/{POLICY.name}/policy.yaml", ""])
def test_a_reference_names_a_folder_a_file_or_all(
    cozyguard: Run, package: Package, repository: tuple[str, str], place: str
) -> None:
    reference = f"git::{repository[0]}{place and '//' + place}?ref={repository[1]}"
    assert cozyguard("check", package("default"), "--policies", reference, "-o", "json").document["policies"] == 1


def test_what_a_hook_of_git_has_in_its_environment_does_not_matter_nor_does_the_folder(
    cozyguard: Run, package: Package, repository: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["git", "init", "--quiet", tmp_path / "mine"], check=True)
    subprocess.run(["git", "clone", "--quiet", "--bare", repository[0], tmp_path / "policies.git"], check=True)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "mine" / ".git"))
    monkeypatch.chdir(tmp_path)
    reference = f"git::policies.git//policies?ref={repository[1]}"

    assert cozyguard("check", package("default"), "--policies", reference, "-o", "json").document["policies"] == 1
    assert not list((tmp_path / "mine" / ".git" / "objects").glob("??"))


def test_credentials_in_a_url_are_not_shown(cozyguard: Run, package: Package) -> None:
    reference = f"git::http://user:hunter2@127.0.0.1:1/x?ref={'a' * 40}"

    answer = cozyguard("check", package("default"), "--policies", reference)

    assert answer.code == 2
    assert "127.0.0.1:1/x" in answer.err
    assert "hunter2" not in answer.err


def test_a_fault_in_a_fetched_policy_names_the_commit(
    cozyguard: Run, package: Package, tmp_path: Path, repository: tuple[str, str]
) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", repository[0], clone], check=True)
    file = clone / "policies" / POLICY.name / "policy.yaml"
    file.write_text(file.read_text().replace("severity: high", "severity: hihg"))
    who = ("-c", "user.name=dev", "-c", "user.email=dev@example.org")
    subprocess.run(["git", *who, "commit", "--quiet", "--all", "--message", "Break it"], cwd=clone, check=True)
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=clone, check=True, capture_output=True, text=True).stdout

    answer = cozyguard("check", package("default"), "--policies", f"git::{clone.as_uri()}?ref={commit.strip()}")

    assert answer.code == 2
    assert re.match(
        rf"{clone.as_uri()}@{commit[:12]}//policies/{POLICY.name}/policy.yaml:\d+:\d+: policy error: spec.severity: ",
        answer.err,
    )


@pytest.fixture(scope="module")
def registry() -> Iterator[tuple[str, str]]:
    """crane, and a registry that keeps what it is given in memory."""
    crane = str(binaries.crane())
    command = [crane, "registry", "serve", "--address", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        port = re.search(r"serving on port (\d+)", process.stderr.readline())
        try:
            assert port
            yield crane, f"127.0.0.1:{port[1]}"
        finally:
            process.terminate()


def pushed(registry: tuple[str, str], archive: Path) -> str:
    """Push an archive of policies; gives the reference."""
    crane, name = registry[0], f"{registry[1]}/policies"
    command = [crane, "append", "--new_layer", str(archive), "--new_tag", f"{name}:v1"]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    return f"oci://{name}@{ran.stdout.strip().rpartition('@')[2]}"


def test_an_artifact_of_a_registry_is_used_and_what_is_not_its_digest_is_not(
    cozyguard: Run, package: Package, registry: tuple[str, str], tmp_path: Path
) -> None:
    archive = tmp_path / "policies.tar.gz"
    with tarfile.open(archive, "w:gz") as made:
        made.add(POLICY, "policies")
    reference = pushed(registry, archive)

    answer = cozyguard("check", package("contaner"), "--release", "1.6", "--policies", reference, "-o", "json")
    assert (answer.code, answer.err) == (1, "")
    assert answer.findings == [("deny", "package-variant-known", "spec.variant")]

    missing = reference[:-4] + "0000"
    answer = cozyguard("check", package("contaner"), "--policies", missing)
    assert answer.code == 2
    assert f"`{missing}` cannot be fetched: the registry answers 404" in answer.err
