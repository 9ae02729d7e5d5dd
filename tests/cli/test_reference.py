from pathlib import Path

from webhook.cli.reference import reference


def test_the_page_of_the_command_line_is_current() -> None:
    page = Path(__file__).parents[2] / "docs" / "cli.md"

    assert page.read_text(encoding="utf-8") == reference(), "run `make generate`"
