import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.report.plain import shorten, visible, width, window


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text", "plain text"),
        ("größe 値", "größe 値"),
        ("\x1b[2J", "\\x1b[2J"),
        ("a\tb\r", "a\\tb\\r"),
        ("\u202egpu", "\\u202egpu"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_does_not_print_as_itself_is_escaped(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text())
def test_nothing_that_moves_the_cursor_or_hides_survives(text: str) -> None:
    assert all(unicodedata.category(c) not in {"Cc", "Cf", "Cs", "Zl", "Zp"} for c in visible(text))


def test_wide_characters_take_two_columns_and_combining_ones_none() -> None:
    assert width("名前") == 4
    assert width("e\u0301") == 1


def test_a_text_is_cut_in_columns_not_in_characters() -> None:
    assert shorten("名前名前", 5) == "名前…"
    assert shorten("short", 5) == "short"


def test_the_part_of_a_long_line_stays_in_sight() -> None:
    text, column, length = window("a" * 500 + "BAD" + "c" * 500, 500, 503, 60)

    assert text[column : column + length] == "BAD"
    assert width(text) <= 60
    assert text.startswith("…")
    assert text.endswith("…")


@given(st.text(max_size=400), st.integers(0, 400), st.integers(0, 400))
def test_a_window_never_grows_beyond_its_columns(line: str, start: int, length: int) -> None:
    text, column, part = window(line, start, start + length, 60)

    assert width(text) <= 60
    assert column + part <= 60
