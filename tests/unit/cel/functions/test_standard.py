"""Sizes, and tests on strings."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize(
    ("name", "part", "result"),
    [
        ("contains", "gpu", True),
        ("contains", "", True),
        ("contains", "GPU", False),
        ("startsWith", "nvidia", True),
        ("startsWith", "gpu", False),
        ("endsWith", "gpu", True),
        ("endsWith", "nvidia", False),
    ],
)
def test_tests_on_strings(call: Any, name: str, part: str, result: bool) -> None:
    assert call(name, "nvidia.com/gpu", part) is result


@pytest.mark.parametrize("name", ["contains", "startsWith", "endsWith"])
@pytest.mark.parametrize(("text", "part"), [(None, "a"), ("a", None), (["a"], "a"), ("a", ["a"]), (b"a", b"a")])
def test_only_strings_are_tested(failure: Any, name: str, text: Any, part: Any) -> None:
    assert failure(name, text, part) == "no such overload"


def test_size(call: Any) -> None:
    assert call("size", "é😀") == 2
