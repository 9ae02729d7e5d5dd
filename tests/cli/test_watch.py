from __future__ import annotations

import threading
from pathlib import Path

import pytest

from webhook.cli.watch import watch


class Enough(Exception):
    """Ends a watch."""


@pytest.mark.parametrize("change", ["write", "add", "remove"])
def test_a_run_follows_each_change_of_a_folder(tmp_path: Path, change: str) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text("a: 1\n")
    runs = []

    def later() -> None:
        if change == "remove":
            file.unlink()
        else:
            (file if change == "write" else tmp_path / "more.yaml").write_text("a: 22\n")

    def run() -> list[Path]:
        runs.append(1)
        if len(runs) == 2:
            raise Enough
        threading.Timer(0.1, later).start()
        return [tmp_path]

    with pytest.raises(Enough):
        watch(run)


def test_what_is_written_while_a_run_is_under_way_is_not_missed(tmp_path: Path) -> None:
    runs = []

    def run() -> list[Path]:
        runs.append(1)
        if len(runs) == 2:
            raise Enough
        (tmp_path / "policy.yaml").write_text("a: 1\n")
        return [tmp_path]

    with pytest.raises(Enough):
        watch(run)


def test_hidden_files_are_nobodys_business(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    naps = []

    def sleep(_: float) -> None:
        naps.append(1)
        if len(naps) == 3:
            raise Enough
        (tmp_path / ".swp").write_text(str(naps))

    monkeypatch.setattr("time.sleep", sleep)
    with pytest.raises(Enough):
        watch(lambda: [tmp_path])
    assert len(naps) == 3
