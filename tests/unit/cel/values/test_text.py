"""Values as Go writes them."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from webhook.cel.values import Uint, make_map
from webhook.cel.values.text import double, quote, show


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "-0"),
        (2.0, "2"),
        (0.25, "0.25"),
        (654321.0, "654321"),
        (100000.0, "100000"),
        (1000000.0, "1e+06"),
        (7654321.5, "7.6543215e+06"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (-1e100, "-1e+100"),
        (5e-324, "5e-324"),
        (math.inf, "+Inf"),
        (-math.inf, "-Inf"),
        (math.nan, "NaN"),
    ],
)
def test_doubles(value: float, text: str) -> None:
    assert double(value) == text


@given(st.floats(allow_nan=False))
@example(5.960464477539063e-08)  # 17 digits end in a tie, which rounding decides the other way
def test_the_text_of_a_double_reads_back(value: float) -> None:
    assert float(double(value)) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "plain"),
        (True, "true"),
        (None, "null"),
        (Uint(5), "5"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        ([1, "a", [None]], "[1, a, [null]]"),
        ({"a": 1.5}, "{a: 1.5}"),
        (make_map([(True, 1)]), "{true: 1}"),
    ],
)
def test_values_in_messages(value: Any, text: str) -> None:
    assert show(value) == text


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("", '""'),
        ("gpu=on", '"gpu=on"'),
        ('say "hi"\\', r'"say \"hi\"\\"'),
        ("\a\b\f\n\r\t\v", r'"\a\b\f\n\r\t\v"'),
        ("\x01\x7f", r'"\x01\x7f"'),
        ("\u0085\u2028", r'"\u0085\u2028"'),
        ("\U000e0001", r'"\U000e0001"'),
        ("é😀", '"é😀"'),
    ],
)
def test_quoting(text: str, quoted: str) -> None:
    assert quote(text) == quoted


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126)))
def test_quoted_ascii_is_json(text: str) -> None:
    assert json.loads(quote(text)) == text
