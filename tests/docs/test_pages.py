from pathlib import Path

import pytest

from webhook.cli.pages import pages

FOLDER = Path(__file__).parents[2] / "docs" / "policies"


def test_the_pages_of_the_bundled_policies_are_current(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    shipped = {file.name: file.read_text(encoding="utf-8") for file in FOLDER.iterdir()}

    assert shipped == pages(), "run `make generate`, and remove the pages of policies that are gone"
