"""Field paths are written one way everywhere, and read back to what they were."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.model.path import Path, parse, pointer, render, walk

steps = st.one_of(st.text(min_size=1), st.integers(min_value=0, max_value=10**6))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("spec", "a", "b", 0, "c"), "spec.a.b[0].c"),
        (("metadata", "labels", "a.b/c"), 'metadata.labels["a.b/c"]'),
        (("a.b",), '["a.b"]'),
        (("data", 'say "hi"\\'), 'data["say \\"hi\\"\\\\"]'),
    ],
)
def test_a_path_is_written_as_people_write_it(path: Path, text: str) -> None:
    assert render(path) == text
    assert parse(text) == path


@given(st.lists(steps).map(tuple))
def test_every_path_is_read_back_to_what_it_was(path: Path) -> None:
    assert parse(render(path)) == path


@pytest.mark.parametrize("text", ["spec..a", "spec[", "spec[x]", "a b", "spec.a]"])
def test_what_is_no_path_is_refused_with_the_place(text: str) -> None:
    with pytest.raises(ValueError, match="cannot read"):
        parse(text)


def test_a_pointer_escapes_the_tilde_before_the_slash() -> None:
    assert pointer(("spec", "a~b/c", 0)) == "/spec/a~0b~1c/0"


def test_walking_tells_null_from_absent() -> None:
    assert walk({"a": [None]}, ("a", 0)) == (True, None)
    assert walk({"a": [None]}, ("a", 1)) == (False, None)
    assert walk({"a": "text"}, ("a", "b")) == (False, None)
