"""Releases compare by minor, and ranges of them hold as written."""

from __future__ import annotations

import pytest

from webhook.model.release import Minor, ReleaseRange


@pytest.mark.parametrize("text", ["1.6", "v1.6", "1.6.2", "v1.6.0-rc.1", " 1.6 "])
def test_patch_and_pre_release_parts_are_dropped(text: str) -> None:
    assert Minor.parse(text) == Minor(1, 6)


@pytest.mark.parametrize("text", ["", "1", "latest", "1.x", "1.6 or later"])
def test_what_is_no_release_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match=r"want a release such as `1\.6`"):
        Minor.parse(text)


def test_releases_compare_as_numbers_and_not_as_text() -> None:
    assert Minor.parse("1.10") > Minor.parse("1.9")


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        (">=1.5", ["1.5", "1.10", "2.0"], ["1.4", "0.9"]),
        (">=1.5,<1.7", ["1.5", "1.6"], ["1.4", "1.7"]),
        (">1.5", ["1.6"], ["1.5"]),
        ("<=1.4", ["1.4", "1.0"], ["1.5"]),
        ("1.6", ["1.6"], ["1.5", "1.7"]),
        ("==1.6.2", ["1.6"], ["1.7"]),
    ],
)
def test_a_range_holds_for_the_releases_it_names(text: str, inside: list[str], outside: list[str]) -> None:
    releases = ReleaseRange.parse(text)
    assert all(Minor.parse(release) in releases for release in inside)
    assert not any(Minor.parse(release) in releases for release in outside)


@pytest.mark.parametrize("text", ["", ">=1.5,", "~1.5", ">= 1", "1.5 - 1.7"])
def test_a_range_that_cannot_be_read_names_the_part(text: str) -> None:
    with pytest.raises(ValueError, match="want comparisons"):
        ReleaseRange.parse(text)
