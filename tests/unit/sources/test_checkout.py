from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from webhook.errors import UsageError
from webhook.sources.checkout import Checkout

Cozystack = Callable[..., str]


def test_a_bare_repository_is_read_at_a_tag(cozystack: Cozystack) -> None:
    checkout = Checkout(cozystack(), "v1.9.3")

    assert checkout.read("packages/apps/kubernetes-nodes/Chart.yaml") == "name: kubernetes-nodes\n"
    assert list(checkout.under("packages/core/platform/files", ".yaml")) == [
        "packages/core/platform/files/gpu-passthrough-defaults.yaml",
        "packages/core/platform/files/gpu-vgpu-defaults.yaml",
    ]


def test_what_is_not_there_is_none(cozystack: Cozystack) -> None:
    checkout = Checkout(cozystack(), "v1.9.3")

    assert checkout.read("packages") is None
    assert checkout.read("packages/none.yaml") is None
    assert list(checkout.under("pack")) == []


def test_the_work_tree_is_not_looked_at(cozystack: Cozystack, tmp_path: Path) -> None:
    cozystack()
    (tmp_path / "tree" / "README.md").write_text("changed")
    checkout = Checkout(str(tmp_path / "tree"), "HEAD")

    assert checkout.ref == "HEAD"
    assert checkout.read("README.md") != "changed"


def test_a_ref_that_is_not_there_is_refused(cozystack: Cozystack) -> None:
    folder = cozystack()
    with pytest.raises(UsageError, match=r"has no ref `v9`; `git fetch --tags` brings what is new"):
        Checkout(folder, "v9")
    with pytest.raises(UsageError, match="has no ref `--all`"):
        Checkout(folder, "--all")


def test_a_folder_without_a_repository_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no git repository"):
        Checkout(str(tmp_path), "v1.6.2")


def test_a_machine_without_git_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="git is not installed"):
        Checkout(str(tmp_path), "v1.6.2")


def test_variables_of_git_lead_nowhere_else(
    cozystack: Cozystack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = cozystack()
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "other")], check=True)
    monkeypatch.setitem(os.environ, "GIT_DIR", str(tmp_path / "other"))

    assert Checkout(folder, "v1.9.3").read("README.md")
