"""What kubectl 1.36 and the API server make of a scalar, tried one by one (`kubectl apply --dry-run=client -o json`)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.errors import DocumentErrors
from webhook.sources.yaml import read
from webhook.sources.yaml.scalars import normal


def value(text: str) -> Any:
    (document,) = read(f"a: {text}\n", "f.yaml")
    return document.value["a"]


def key(text: str) -> str:
    (document,) = read(f"{text}: 1\n", "f.yaml")
    (found,) = document.value
    assert isinstance(found, str)
    return found


@pytest.mark.parametrize("text", ["y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE"])
def test_many_words_are_true(text: str) -> None:
    assert value(text) is True


@pytest.mark.parametrize("text", ["n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE"])
def test_many_words_are_false(text: str) -> None:
    assert value(text) is False


@pytest.mark.parametrize("text", ["", "~", "null", "Null", "NULL", "!!null ''"])
def test_some_words_are_null(text: str) -> None:
    assert value(text) is None


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1e3", 1000),
        ("1E04", 10000),
        ("81111e1", 811110),
        ("0777", 511),
        ("0951", 951),
        ("0o7", 7),
        ("0o17", 15),
        ("0x1F", 31),
        ("-0x1F", -31),
        ("0b11", 3),
        ("0B11", 3),
        ("0_7", 7),
        ("08", 8),
        ("00", 0),
        ("-0.0", 0),
        ("+12", 12),
        ("+_1", 1),
        ("1_000", 1000),
        ("1.0", 1),
        ("9.2e18", 9200000000000000000),
        ("-9223372036854775808", -(2**63)),
        ("!!int '5'", 5),
        ("!!float 5", 5),
    ],
)
def test_whole_numbers_are_integers_however_they_are_written(text: str, number: int) -> None:
    assert value(text) == number
    assert type(value(text)) is int


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (".5", 0.5),
        ("+.5", 0.5),
        (".5_0", 0.5),
        ("1_0.5_0", 10.5),
        ("1.25", 1.25),
        ("1e-2", 0.01),
        ("1e20", 1e20),
        ("1e21", 1e21),
        ("9223372036854775808", 2.0**63),
        ("-9223372036854775809", -(2.0**63)),
        ("18446744073709551616", 2.0**64),
        ("0x8000000000000000", 2.0**63),
    ],
)
def test_fractions_and_what_has_more_than_64_bits_are_floats(text: str, number: float) -> None:
    assert value(text) == number
    assert type(value(text)) is float


@pytest.mark.parametrize(
    "text",
    [
        "2024-01-01",
        "2001-12-14t21:59:43.10-05:00",
        "12:30:45",
        "1:2",
        "0x",
        "1e400",
        "._5",
        "_1",
        "10.0.0.1",
        "1.2.3",
        "500m",
        "1Gi",
        "inf",
        "nan",
        "yEs",
        "=",
        "<<",
        "0x1.8p1",
    ],
)
def test_whatever_else_looks_like_a_number_or_a_date_stays_text(text: str) -> None:
    assert value(text) == text


@pytest.mark.parametrize("text", ["'yes'", '"1e3"', "'~'", '"0777"', "''"])
def test_quotes_make_text(text: str) -> None:
    assert value(text) == text[1:-1]


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("!!str 12", "12"),
        ("!!str", ""),
        ("! 12", "12"),
        ("!!binary aGk=", "hi"),
        ("!!binary /w==", "\ufffd"),
        ("!!bool on", True),
        ("!!timestamp 2024-1-1", "2024-1-1"),
    ],
)
def test_a_known_tag_decides(text: str, result: Any) -> None:
    assert value(text) == result


@pytest.mark.parametrize(
    "text", [".inf", "-.inf", ".NaN", "!!int foo", "!!bool 12", "!!binary '?'", "!!float 18446744073709551615"]
)
def test_what_json_cannot_hold_or_a_tag_denies_is_refused(text: str) -> None:
    with pytest.raises(DocumentErrors) as error:
        value(text)
    assert (error.value.errors[0].line, error.value.errors[0].column) == (1, 4)


def test_an_unknown_tag_is_reported_as_kubectl_drops_it() -> None:
    with pytest.raises(DocumentErrors, match="unknown tag `!vault`"):
        value("!vault secret")


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("no", "false"),
        ("on", "true"),
        ("1e3", "1000"),
        ("1e6", "1e+06"),
        ("16777217.0", "1.6777216e+07"),
        ("1234567.5", "1.2345675e+06"),
        ("0.0001", "0.0001"),
        ("0.00001", "1e-05"),
        ("1e300", ".inf"),
        (".nan", ".nan"),
        ("-0.0", "-0"),
        ("0777", "511"),
        ("8080", "8080"),
        ("2024-01-01", "2024-01-01"),
        ("!!binary aGk=", "hi"),
        ("<", "<"),
    ],
)
def test_keys_become_text(text: str, result: str) -> None:
    assert key(text) == result


@pytest.mark.parametrize("text", ["~", "18446744073709551615", "[a]", "{a: 1}", "? [1]\n"])
def test_keys_that_cannot_become_text_are_refused(text: str) -> None:
    with pytest.raises(DocumentErrors):
        key(text)


@given(st.integers(-(2**63), 2**63 - 1))
def test_every_integer_of_64_bits_is_kept(number: int) -> None:
    assert value(str(number)) == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_normal_once_and_for_all(number: float) -> None:
    once = normal(number)
    assert normal(once) == once
    assert isinstance(once, int) == (number.is_integer() and -(2**63) <= once < 2**63)
