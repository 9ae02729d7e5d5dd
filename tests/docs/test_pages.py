from pathlib import Path

import pytest

from webhook.cli.pages import pages
from webhook.sources import policies
from webhook.sources.bundled import bundled

FOLDER = Path(__file__).parents[2] / "docs" / "policies"


def test_the_pages_of_the_bundled_policies_are_current(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    shipped = {file.name: file.read_text(encoding="utf-8") for file in FOLDER.iterdir()}

    assert shipped == pages(), "run `make generate`, and remove the pages of policies that are gone"


def test_every_bundled_policy_names_the_source_of_its_fact() -> None:
    loaded = policies.load([bundled()])
    assert loaded.policies
    assert [policy.name for policy in loaded.policies if not policy.sources] == []
