"""Values as they stand in error messages and in text, written as Go writes them."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, Final

_ESCAPES: Final = {
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
    number = Decimal(repr(value)).normalize()
    exponent = number.adjusted()
    if -4 <= exponent < exponent_from or not value:
        return f"{number:f}"
    mantissa = f"{number.scaleb(-exponent):f}"
    return f"{mantissa}e{exponent:+03d}"


def quote(text: str) -> str:
    """A string in double quotes, with everything that does not print escaped: Go's `%q`."""
    if _PLAIN.fullmatch(text):
        return f'"{text}"'
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
