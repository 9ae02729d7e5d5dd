from __future__ import annotations

import pytest

from webhook.errors import closest, did_you_mean


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("contaner", "container"),
        ("CONTAINER", "container"),
        ("hostdevices", "HostDevices"),
        ("objct", "object"),
        ("xyz", None),
    ],
)
def test_the_word_that_was_probably_meant_is_found_whatever_its_case(word: str, near: str | None) -> None:
    assert closest(word, ["container", "HostDevices", "Object", "object"]) == near


def test_a_hint_ends_a_message_and_is_nothing_where_no_word_is_near() -> None:
    assert did_you_mean("varant", ["variant"], "spec.") == "; did you mean `spec.variant`?"
    assert did_you_mean("varant", []) == ""
