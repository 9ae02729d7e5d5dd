"""Values as they stand in error messages and in text, written as Go writes them."""

from __future__ import annotations

import re
from typing import Any, Final

ESCAPES: Final = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
}
"""How Go's `%q` and `strings.quote` write what would end a string, or not print."""

_PLAIN: Final = re.compile(r"[^\\\"\x00-\x1f\x7f-\U0010ffff]*")


def show(value: Any) -> str:
    """A value in an error message."""
    kind = type(value)
    if kind is bool:
        return "true" if value else "false"
    if value is None:
        return "null"
    if kind is float:
        return double(value, exponent_from=21)
    if kind is list:
        return f"[{', '.join(map(show, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{show(k)}: {show(v)}' for k, v in value.items())}}}"
    return str(value)


def double(value: float, *, exponent_from: int = 6) -> str:
    """The shortest text that reads back as the number: Go's `%g`, or its `%v` with 21.

    The exponent form is used from 10**`exponent_from` on and below 0.0001.
    """
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "+Inf" if value > 0 else "-Inf"
    sign, digits, exponent = _shortest(value)
    if -4 <= exponent < exponent_from or not value:
        return sign + _plain(digits, exponent)
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{exponent:+03d}"


def positional(value: float) -> str:
    """The same without an exponent, however long it gets: Go's `%f` with as many digits as it takes."""
    sign, digits, exponent = _shortest(value)
    return sign + _plain(digits, exponent)


def _shortest(value: float) -> tuple[str, str, int]:
    """Sign, significant digits, and the power of ten of the first of them."""
    text = repr(value)
    mantissa, _, power = text.lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    exponent = int(power or 0) + len(digits) - len(fraction) - 1 if digits else 0
    return "-" if text.startswith("-") else "", digits.rstrip("0") or "0", exponent


def _plain(digits: str, exponent: int) -> str:
    if exponent < 0:
        return f"0.{'0' * (-exponent - 1)}{digits}"
    whole = digits[: exponent + 1].ljust(exponent + 1, "0")
    fraction = digits[exponent + 1 :]
    return f"{whole}.{fraction}" if fraction else whole


def quote(text: str) -> str:
    """A string in double quotes, with everything that does not print escaped: Go's `%q`."""
    if _PLAIN.fullmatch(text):
        return f'"{text}"'
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(character: str) -> str:
    if character in ESCAPES:
        return ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
