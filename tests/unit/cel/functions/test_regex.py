"""Regular expressions."""

from __future__ import annotations

import time
from typing import Any

import pytest

from webhook.cel.errors import Budget, Exhausted


@pytest.mark.parametrize(
    ("text", "pattern", "result"),
    [
        ("nvidia.com/gpu", "gpu", True),
        ("nvidia.com/gpu", "^gpu", False),
        ("", "", True),
        ("é", "^.$", True),
        ("a\nb", "a.b", False),
        ("a\nb", "(?s)a.b", True),
        ("AB", "(?i)ab", True),
        ("x", "(?<name>x)", True),
        ("x", "(?P<name>x)", True),
    ],
)
def test_matching_is_searching(call: Any, text: str, pattern: str, result: bool) -> None:
    assert call("matches", text, pattern) is result


@pytest.mark.parametrize(
    ("text", "pattern", "result"),
    [("gpu-42-é", "[0-9]+", "42"), ("gpu-42-é", "é$", "é"), ("gpu", "[0-9]+", ""), ("abc", "b*", "")],
)
def test_find(call: Any, text: str, pattern: str, result: str) -> None:
    assert call("find", text, pattern) == result


@pytest.mark.parametrize(
    ("arguments", "result"),
    [
        (("7 gpus, 8 vms", "[0-9]+"), ["7", "8"]),
        (("7 gpus, 8 vms", "[0-9]+", 1), ["7"]),
        (("7 gpus, 8 vms", "[0-9]+", 0), []),
        (("7 gpus, 8 vms", "[0-9]+", -1), ["7", "8"]),
        (("12a34", "[0-9]*"), ["12", "34"]),
        (("12ab34", "[0-9]*"), ["12", "", "34"]),
        (("xyyz", "y*"), ["", "yy", ""]),
        (("éa", ""), ["", "", ""]),
        (("k=v", "(k)=(v)"), ["k=v"]),
        (("abc", "x"), []),
    ],
)
def test_find_all(call: Any, arguments: Any, result: list[str]) -> None:
    assert call("findAll", *arguments) == result


@pytest.mark.parametrize("pattern", ["(", "[", "*", "a**", r"\1", "(?=a)", "a{1001}", "[[:nope:]]", "\\"])
def test_what_is_no_regular_expression(failure: Any, capfd: Any, pattern: str) -> None:
    assert failure("matches", "x", pattern).startswith("error parsing regexp: ")
    assert failure("find", "x", pattern).startswith("Illegal regex: error parsing regexp: ")
    assert failure("findAll", "x", pattern).startswith("Illegal regex: error parsing regexp: ")
    assert capfd.readouterr() == ("", "")


def test_only_strings_match(failure: Any) -> None:
    assert failure("matches", None, "a") == "no such overload"
    assert failure("matches", "a", 1) == "no such overload"
    assert failure("find", 1, "a") == "no such overload: find(int, string)"


def test_nothing_backtracks(call: Any) -> None:
    begun = time.monotonic()
    assert not call("matches", "a" * 30_000, "(a+)+$b")
    assert time.monotonic() - begun < 1


@pytest.mark.parametrize(
    ("name", "text", "pattern"),
    [("matches", "x" * 9000, "x{4}"), ("find", "x" * 9000, "x{4}"), ("findAll", "x" * 900, "")],
)
def test_searching_is_paid_for(call: Any, name: str, text: str, pattern: str) -> None:
    with pytest.raises(Exhausted):
        call(name, text, pattern, budget=Budget(limit=800))
