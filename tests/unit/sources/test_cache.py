from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from webhook.sources import cache


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep the cache below a folder of the test's own, and name where entries go."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "cozyguard"


@pytest.fixture
def make() -> Callable[[], list[int]]:
    """Count how often it is called."""
    calls: list[int] = []

    def count() -> list[int]:
        calls.append(len(calls))
        return list(calls)

    return count


Make = Callable[[], list[int]]


@pytest.mark.usefixtures("folder")
def test_what_was_made_before_is_not_made_again(make: Make) -> None:
    assert cache.remembered([b"a", b"b"], make) == [0]
    assert cache.remembered([b"a", b"b"], make) == [0]


@pytest.mark.usefixtures("folder")
def test_other_parts_are_another_entry(make: Make) -> None:
    cache.remembered([b"a", b"b"], make)
    assert cache.remembered([b"ab"], make) == [0, 1]


@pytest.mark.parametrize("part", ["_cel_library", "_sources"])
@pytest.mark.usefixtures("folder")
def test_other_code_is_another_entry(part: str, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.remembered([b"a"], make)
    monkeypatch.setattr(cache, part, lambda: "1.2.3")
    cache._code.cache_clear()
    assert cache.remembered([b"a"], make) == [0, 1]
    cache._code.cache_clear()


def test_only_the_user_can_read_and_write_the_folder(folder: Path, make: Make) -> None:
    cache.remembered([b"a"], make)
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777])
def test_a_folder_that_others_can_write_is_not_used(mode: int, folder: Path, make: Make) -> None:
    folder.mkdir()
    folder.chmod(mode)
    cache.remembered([b"a"], make)
    assert not list(folder.iterdir())


def test_a_folder_that_is_a_link_is_not_used(folder: Path, make: Make, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to("elsewhere")
    cache.remembered([b"a"], make)
    assert not list((tmp_path / "elsewhere").iterdir())


def test_an_entry_that_others_can_write_is_not_read(folder: Path, make: Make) -> None:
    cache.remembered([b"a"], make)
    next(folder.iterdir()).chmod(0o666)
    assert cache.remembered([b"a"], make) == [0, 1]


@pytest.mark.parametrize("damage", [lambda entry: b"", lambda entry: entry[:40], lambda entry: entry[:-1] + b"x"])
def test_a_damaged_entry_is_made_again(damage: Callable[[bytes], bytes], folder: Path, make: Make) -> None:
    cache.remembered([b"a"], make)
    (entry,) = folder.iterdir()
    entry.write_bytes(damage(entry.read_bytes()))
    assert cache.remembered([b"a"], make) == [0, 1]
    assert cache.remembered([b"a"], make) == [0, 1]


def test_a_place_that_cannot_be_written_fails_nothing(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert cache.remembered([b"a"], make) == [0]


def test_a_full_disk_fails_nothing_and_leaves_nothing(
    folder: Path, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(self: Path, data: bytes) -> int:
        self.touch()
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(Path, "write_bytes", no_space)
    assert cache.remembered([b"a"], make) == [0]
    assert not list(folder.iterdir())


def test_the_oldest_entries_go_where_all_are_too_many(
    folder: Path, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    for age, part in enumerate((b"new", b"older", b"oldest")):
        cache.remembered([part], make)
        (entry,) = (file for file in folder.iterdir() if not file.stat().st_mtime < 10)
        os.utime(entry, (9 - age, 9 - age))
    size = entry.stat().st_size
    cache.prune()
    assert len(list(folder.iterdir())) == 3
    monkeypatch.setattr(cache, "_KEPT", 2 * size)
    cache.prune()
    assert sorted(file.stat().st_mtime for file in folder.iterdir()) == [8, 9]
