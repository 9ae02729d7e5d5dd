import os
import stat
from pathlib import Path

import pytest

from webhook.errors import UsageError
from webhook.runs.rewrite import rewrite


def test_a_file_is_replaced_behind_its_link_and_keeps_its_permissions(tmp_path: Path) -> None:
    file, link = tmp_path / "a.yaml", tmp_path / "b.yaml"
    file.write_bytes(b"old")
    file.chmod(0o604)
    link.symlink_to("a.yaml")

    rewrite(str(link), b"new")

    assert (file.read_bytes(), link.is_symlink()) == (b"new", True)
    assert stat.S_IMODE(file.stat().st_mode) == 0o604


def test_a_write_that_fails_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.yaml"
    file.write_bytes(b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UsageError, match=r"^cannot write `.*a.yaml`: no space left on device$"):
        rewrite(str(file), b"new")

    assert file.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["a.yaml"]


def test_a_file_that_is_gone_is_not_made_again(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file or directory"):
        rewrite(str(tmp_path / "a.yaml"), b"new")

    assert list(tmp_path.iterdir()) == []
