"""Values as they stand in error messages and in text, written as Go writes them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any


def show(value: Any) -> str:
    """A value in an error message."""
    kind = type(value)
    if kind is str:
        return str(value)
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
    """The shortest text that reads back as the number: `%g`, or `%v` with 21.

    The exponent form starts at 10**`exponent_from` when there are no more digits than that, and
    below 0.0001.
    """
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "+Inf" if value > 0 else "-Inf"
    sign, digits, power = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(power, int)  # noqa: S101 - NaN and infinities are gone
    exponent = len(digits) + power - 1 if value else 0
    if -4 <= exponent < exponent_from or not value:
        return f"{Decimal(repr(value)).normalize():f}"
    text = "".join(map(str, digits))
    mantissa = f"{text[0]}.{text[1:]}" if len(text) > 1 else text
    return f"{'-' if sign else ''}{mantissa}e{exponent:+03d}"
