from pathlib import Path

from webhook.cli.pages import pages

FOLDER = Path(__file__).parents[2] / "docs" / "policies"


def test_the_pages_of_the_bundled_policies_are_current() -> None:
    shipped = {file.name: file.read_text(encoding="utf-8") for file in FOLDER.iterdir()}

    assert shipped == pages(), "run `make generate`, and remove the pages of policies that are gone"
