"""`format`."""

from __future__ import annotations

import math
from typing import Any

import pytest

from webhook.cel.errors import Budget, Exhausted
from webhook.cel.values import NONE, Duration, Timestamp, Uint, make_map, type_of

RESULTS = [
    ("100%% of %s", ["it"], "100% of it"),
    ("%s", [1.5], "1.5"),
    ("%s", [2e7], "2e+07"),
    ("%s", [None], "null"),
    ("%s", [True], "true"),
    ("%s", [b"abc"], "abc"),
    ("%s", [Duration(90 * 10**9)], "90s"),
    ("%s", [Timestamp(0)], "1970-01-01T00:00:00Z"),
    ("%s", [type_of([])], "list"),
    ("%.3s", ["abcdef"], "abcdef"),
    ("%s", [[]], "[]"),
    (
        "%s",
        [[1, Uint(2), 2.5, 'q"', b"b", None, type_of(1), math.inf, [True]]],
        '[1, 2, 2.500000, "q\\"", b"b", null, int, "+Inf", [true]]',
    ),
    (
        "%s",
        [[Timestamp(0), Duration(1)]],
        '[timestamp("1970-01-01T00:00:00Z"), duration("0.000000001s")]',
    ),
    ("%s", [{"b": [1], "a": "x"}], '{"a":"x", "b":[1]}'),
    ("%s", [make_map([(10, "x"), (2, "y"), (True, "z")])], '{10:"x", 2:"y", true:"z"}'),
    ("%d and %d", [-5, Uint(7)], "-5 and 7"),
    ("%f", [1.0], "1.000000"),
    ("%.2f", [-9876543.219], "-9,876,543.22"),
    ("%.0f", [-0.0], "0"),
    ("%.1f", [-0.01], "-0.0"),
    ("%f %f %f", ["NaN", "Infinity", -math.inf], "NaN ∞ -∞"),
    ("%e", [98765.4321], "9.876543×10⁰⁴"),
    ("%.1e", [-1e-7], "-1.000000×10⁻⁰⁷"),
    ("%.6e", ["NaN"], "   NaN"),
    ("%b %b %b", [-5, Uint(5), True], "-101 101 1"),
    ("%o", [-9], "-11"),
    ("%x %X %x %x", [-255, 255, "é", b"\xff"], "-ff FF c3a9 ff"),
]
WRONG = "error during formatting: "
UNREADABLE = "could not parse formatting clause: "
PRECISION = UNREADABLE + "error while parsing precision: "
FAILURES = [
    ("%s %s", [1], "index 1 out of range"),
    ("%", [], "index 0 out of range"),
    ("x%", [1], "unexpected end of string"),
    ("%y", [1], UNREADABLE + 'unrecognized formatting clause "y"'),
    ("%.", [1.0], PRECISION + "could not find end of precision specifier"),
    ("%.7", [1.0], PRECISION + "could not find end of precision specifier"),
    ("%.f", [1.0], PRECISION + 'error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax'),
    (
        "%.9999999999999999999f",
        [1.0],
        PRECISION
        + 'error while converting precision to integer: strconv.Atoi: parsing "9999999999999999999": value out of range',
    ),
    (
        "%s",
        [NONE],
        WRONG + "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, "
        "durations, and timestamps, was given optional_type",
    ),
    ("%s", [[NONE]], WRONG + "no formatting function for optional_type"),
    ("%s", [make_map([(1.5, 1)])], WRONG + "no formatting function for map key of type double"),
    (
        "%s",
        [b"\xff"],
        WRONG + 'could not convert argument "invalid UTF-8 in bytes, cannot convert to string" to string',
    ),
    ("%d", [1.0], WRONG + "decimal clause can only be used on integers, was given double"),
    ("%f", [1], WRONG + "fixed-point clause can only be used on doubles, was given int"),
    ("%f", ["1"], WRONG + "fixed-point clause can only be used on doubles, was given string"),
    ("%e", [None], WRONG + "scientific clause can only be used on doubles, was given null_type"),
    ("%b", ["1"], WRONG + "only integers and bools can be formatted as binary, was given string"),
    ("%o", [True], WRONG + "octal clause can only be used on integers, was given bool"),
    ("%X", [1.0], WRONG + "only integers, byte buffers, and strings can be formatted as hex, was given double"),
]


@pytest.mark.parametrize(("template", "arguments", "result"), RESULTS)
def test_results(call: Any, template: str, arguments: list[Any], result: str) -> None:
    assert call("format", template, arguments) == result


@pytest.mark.parametrize(("template", "arguments", "message"), FAILURES)
def test_failures(failure: Any, template: str, arguments: list[Any], message: str) -> None:
    assert failure("format", template, arguments) == message


def test_arguments_too_many_are_left_out(call: Any) -> None:
    assert call("format", "%d", [1, 2]) == "1"


@pytest.mark.parametrize(
    ("template", "argument"),
    [
        ("%.999999999f", 1.0),
        ("%.999999999e", 1.0),
        ("%s", ["x"] * 2000),
        ("%s", "x" * 20000),
        ("%s", b"x" * 20000),
        ("%x", "x" * 20000),
        ("x" * 20000 + "%d", 1),
    ],
)
def test_what_grows_is_paid_for(call: Any, template: str, argument: Any) -> None:
    with pytest.raises(Exhausted):
        call("format", template, [argument], budget=Budget(limit=1000))
