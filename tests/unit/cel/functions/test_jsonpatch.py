"""Keys in JSON Patch paths."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from webhook.cel.errors import Budget
from webhook.cel.functions import FUNCTIONS
from webhook.model.path import pointer


def test_slashes_and_tildes_are_escaped(call: Any) -> None:
    assert call("jsonpatch.escapeKey", "gpu.example.com/a~b") == "gpu.example.com~1a~0b"


@given(st.text("a/~01", max_size=8))
def test_it_writes_keys_as_field_paths_do(key: str) -> None:
    assert "/" + FUNCTIONS["jsonpatch.escapeKey"].implementation(Budget(), key) == pointer([key])


def test_only_a_string_is_a_key(failure: Any) -> None:
    assert failure("jsonpatch.escapeKey", 1) == "no such overload: jsonpatch.escapeKey(int)"
