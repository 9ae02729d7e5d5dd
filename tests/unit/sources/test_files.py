from __future__ import annotations

from pathlib import Path

import pytest

from webhook.errors import DocumentError
from webhook.sources.files import Skipped, find


def files(*paths: Path | str) -> list[str]:
    return [each for each in find(map(str, paths)) if isinstance(each, str)]


def rest(*paths: Path | str) -> list[Skipped | DocumentError]:
    return [each for each in find(map(str, paths)) if not isinstance(each, str)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.yaml", "a.yml", "c.json", "README.md", "sub/d.yaml", ".git/e.yaml", ".hidden.yaml"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("{}")
    return tmp_path


def test_a_folder_gives_its_manifests_sorted_and_those_below_it(folder: Path) -> None:
    assert files(folder) == [str(folder / name) for name in ("a.yml", "b.yaml", "c.json", "sub/d.yaml")]


def test_a_file_that_is_named_is_read_whatever_it_is_called(folder: Path) -> None:
    assert files(folder / "README.md", "-", "nowhere.yaml") == [str(folder / "README.md"), "-", "nowhere.yaml"]


def test_a_file_that_is_named_twice_is_read_once(folder: Path) -> None:
    assert files(folder / "b.yaml", folder, folder) == [
        str(folder / name) for name in ("b.yaml", "a.yml", "c.json", "sub/d.yaml")
    ]


def test_a_file_that_is_named_in_two_ways_is_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert files("b.yaml", "./b.yaml", "sub/../b.yaml", "sub//d.yaml", "./sub") == ["b.yaml", "sub//d.yaml"]


def test_a_folder_without_manifests_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("")
    assert rest(tmp_path) == [
        DocumentError(
            str(tmp_path), message="got a folder without manifests, want a `*.yaml`, `*.yml` or `*.json` in it"
        )
    ]


def test_a_kustomization_is_passed_over_and_said_so(folder: Path) -> None:
    (folder / "kustomization.yaml").write_text("resources: [a.yml]")
    assert [type(each) for each in rest(folder)] == [Skipped]
    assert str(folder / "kustomization.yaml") not in files(folder)


def test_a_helm_chart_is_passed_over_and_said_so(folder: Path) -> None:
    (folder / "sub" / "Chart.yaml").write_text("name: x")
    assert [each.file for each in rest(folder) if isinstance(each, Skipped)] == [str(folder / "sub")]
    assert str(folder / "sub" / "d.yaml") not in files(folder)


def test_a_link_that_leads_back_is_an_error_and_no_endless_walk(folder: Path) -> None:
    (folder / "sub" / "up").symlink_to(folder)
    (error,) = rest(folder)
    assert isinstance(error, DocumentError)
    assert (error.file, len(files(folder))) == (str(folder / "sub" / "up"), 4)


def test_linked_folders_and_files_are_followed(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    (other / "linked").symlink_to(folder / "sub")
    (other / "x.yaml").symlink_to(folder / "b.yaml")
    assert files(other) == [str(other / "linked" / "d.yaml"), str(other / "x.yaml")]


def test_a_folder_that_cannot_be_opened_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", denied)
    assert rest(folder) == [DocumentError(str(folder), message="cannot be read: permission denied")]
