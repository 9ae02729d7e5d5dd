"""The string library."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.cel.errors import Budget, Exhausted
from webhook.cel.functions import FUNCTIONS

RESULTS = [
    ("charAt", ("gpü", 2), "ü"),
    ("charAt", ("gpu", 3), ""),
    ("indexOf", ("banana", "an"), 1),
    ("indexOf", ("banana", "an", 2), 3),
    ("indexOf", ("banana", "x"), -1),
    ("indexOf", ("banana", "a", 6), -1),
    ("indexOf", ("banana", "", 4), 4),
    ("indexOf", ("banana", "", 99), 6),
    ("indexOf", ("é😀b", "b"), 2),
    ("indexOf", ([1, 2.0, 2], 2), 1),
    ("lastIndexOf", ("banana", "an"), 3),
    ("lastIndexOf", ("banana", "an", 2), 1),
    ("lastIndexOf", ("banana", "an", 3), 3),
    ("lastIndexOf", ("banana", "a", 6), -1),
    ("lastIndexOf", ("banana", ""), 6),
    ("lastIndexOf", ("banana", "", 99), 6),
    ("lastIndexOf", ("", "a"), -1),
    ("lastIndexOf", ([1, 2.0, 2], 2), 2),
    ("join", (["a", "b"],), "ab"),
    ("join", (["a", "b"], ", "), "a, b"),
    ("join", ([], ", "), ""),
    ("lowerAscii", ("GPÜ",), "gpÜ"),
    ("upperAscii", ("gpü",), "GPü"),
    ("replace", ("banana", "an", "o"), "booa"),
    ("replace", ("banana", "an", "o", 1), "boana"),
    ("replace", ("banana", "an", "o", 0), "banana"),
    ("replace", ("banana", "an", "o", -1), "booa"),
    ("replace", ("ab", "", "-"), "-a-b-"),
    ("replace", ("ab", "", "-", 2), "-a-b"),
    ("split", ("a,b,c", ","), ["a", "b", "c"]),
    ("split", ("a,b,c", ",", 2), ["a", "b,c"]),
    ("split", ("a,b,c", ",", 1), ["a,b,c"]),
    ("split", ("a,b,c", ",", 0), []),
    ("split", ("a,b,c", ",", -1), ["a", "b", "c"]),
    ("split", ("", ","), [""]),
    ("split", ("", ""), []),
    ("split", ("aéb", ""), ["a", "é", "b"]),
    ("split", ("aéb", "", 2), ["a", "éb"]),
    ("substring", ("gpü-x", 2), "ü-x"),
    ("substring", ("gpü-x", 2, 3), "ü"),
    ("substring", ("gpü", 3), ""),
    ("trim", (" \t\n\x85\xa0\u2003x \u3000",), "x"),
    ("trim", ("\x1fx\u200b",), "\x1fx\u200b"),
    ("strings.quote", ('a"\\\n\x01é',), '"a\\"\\\\\\n\x01é"'),
]
FAILURES = [
    ("charAt", ("gpu", 4), "index out of range: 4"),
    ("charAt", ("gpu", -1), "index out of range: -1"),
    ("indexOf", ("gpu", "p", -1), "index out of range: -1"),
    ("lastIndexOf", ("gpu", "", -2), "index out of range: -2"),
    ("substring", ("gpu", 4), "index out of range: 4"),
    ("substring", ("gpu", -1, 2), "index out of range: -1"),
    ("substring", ("gpu", 0, 4), "index out of range: 4"),
    ("substring", ("gpu", 2, 1), "invalid substring range. start: 2, end: 1"),
    ("join", (["a", 1],), "join: invalid input: 1"),
    ("charAt", ("gpu", "1"), "no such overload: charAt(string, string)"),
    ("indexOf", (1, "a"), "no such overload: indexOf(int, string)"),
    ("indexOf", (["a"], "a", 1), "no such overload: indexOf(list, string, int)"),
    ("lastIndexOf", ("a", "a", 1.0), "no such overload: lastIndexOf(string, string, double)"),
    ("lowerAscii", (None,), "no such overload: lowerAscii(null_type)"),
    ("replace", ("a", "b"), "no such overload: replace(string, string)"),
    ("split", ("a", ",", True), "no such overload: split(string, string, bool)"),
]


@pytest.mark.parametrize(("name", "arguments", "result"), RESULTS)
def test_results(call: Any, name: str, arguments: Any, result: Any) -> None:
    assert call(name, *arguments) == result


@pytest.mark.parametrize(("name", "arguments", "message"), FAILURES)
def test_failures(failure: Any, name: str, arguments: Any, message: str) -> None:
    assert failure(name, *arguments) == message


@given(st.text(max_size=20), st.text(min_size=1, max_size=2))
def test_joining_what_was_split_gives_the_text(text: str, separator: str) -> None:
    parts = FUNCTIONS["split"].implementation(Budget(), text, separator)
    assert FUNCTIONS["join"].implementation(Budget(), parts, separator) == text


@given(st.text(max_size=10), st.text(max_size=2), st.integers(-2, 12))
def test_split_gives_no_more_parts_than_asked_for(text: str, separator: str, limit: int) -> None:
    parts = FUNCTIONS["split"].implementation(Budget(), text, separator, limit)
    assert limit < 0 or len(parts) <= limit
    assert limit == 0 or separator.join(parts) == text


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("join", (["x" * 900] * 9, "")),
        ("join", ([""] * 9, "x" * 900)),
        ("replace", ("x" * 90, "x", "y" * 90)),
        ("replace", ("x" * 90, "", "y" * 90)),
        ("split", ("x" * 9000, "")),
        ("split", ("," * 9000, ",")),
        ("lowerAscii", ("X" * 9000,)),
        ("strings.quote", ('"' * 9000,)),
    ],
)
def test_what_grows_is_paid_for(call: Any, name: str, arguments: Any) -> None:
    with pytest.raises(Exhausted):
        call(name, *arguments, budget=Budget(limit=500))
