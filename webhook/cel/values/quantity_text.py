"""Quantities as text: what their suffixes mean, and how one is written without a point."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final, NamedTuple

from webhook.cel.errors import CelError

DECIMAL: Final = "DecimalSI"
BINARY: Final = "BinarySI"
SCIENTIFIC: Final = "DecimalExponent"
"""How a quantity is written: with `k`, `M`, `m` …, with `Ki`, `Mi` …, with `e3`."""

_SUFFIXES: Final = {
    **{suffix: (10, 3 * power, DECIMAL) for power, suffix in enumerate(("n", "u", "m", "", *"kMGTPE"), -3)},
    **{f"{suffix}i": (2, 10 * power, BINARY) for power, suffix in enumerate("KMGTPE", 1)},
}
_NAMES: Final = {(base, exponent): suffix for suffix, (base, exponent, _) in _SUFFIXES.items()}

_TEXT: Final = re.compile(
    r"(?P<sign>[+-]?)(?P<zeros>0*)(?P<whole>[0-9]*)(?:\.(?P<fraction>[0-9]*))?(?P<suffix>[eEinumkKMGTP]*[-+]?[0-9]*)"
)
_SCIENTIFIC: Final = re.compile(r"[eE]([+-]?)0*([0-9]{1,19})")
_EXPRESSION: Final = "^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$"
"""What the API server says that a quantity has to match; it reads a little more."""


class Written(NamedTuple):
    """The parts of a quantity's text. `whole` has no leading zeros, and is `0` where there is nothing else."""

    negative: bool
    whole: str
    fraction: str
    base: int
    exponent: int
    format: str
    has_digits: bool


def read(text: str) -> Written:
    """Take a quantity's text apart. Raises CelError with the API server's message."""
    match = _TEXT.fullmatch(text)
    if not text or match is None:
        raise CelError(f"quantities must match the regular expression '{_EXPRESSION}'")
    sign, zeros, whole, fraction, suffix = match.groups(default="")
    base, exponent, format_ = _SUFFIXES.get(suffix) or _scientific(suffix)
    has_digits = bool(zeros or whole or fraction)
    return Written(sign == "-", whole or "0", fraction, base, exponent, format_, has_digits)


def _scientific(suffix: str) -> tuple[int, int, str]:
    match = _SCIENTIFIC.fullmatch(suffix)
    if match is None or not -(2**63) <= (exponent := int(match[1] + match[2])) < 2**63:
        raise CelError("unable to parse quantity's suffix")
    return 10, int32(exponent), SCIENTIFIC


def int32(number: int) -> int:
    """Wrap a number around as the API server does, which counts powers of ten in 32 bits."""
    return (number + 2**31) % 2**32 - 2**31


def canonical(amount: Decimal, format_: str) -> str:
    """Write the shortest form without a point; what binary suffixes cannot write exactly has decimal ones."""
    if not amount:
        return "0"
    if (
        format_ == BINARY
        and amount.copy_abs() >= 1024
        and amount.adjusted() < 1000
        and amount == amount.to_integral_value()
    ):
        return _binary(int(amount))
    sign, digits, exponent = amount.as_tuple()
    number = "".join(map(str, digits))
    whole = number.rstrip("0")
    power = int(exponent) + len(number) - len(whole)
    padding = power % 3
    power -= padding
    suffix = _NAMES.get((10, power), "") if format_ != SCIENTIFIC else f"e{power}" if power else ""
    return f"{'-' if sign else ''}{whole}{'0' * padding}{suffix}"


def _binary(number: int) -> str:
    power = 0
    while number % 1024 == 0:
        number, power = number // 1024, power + 10
    return f"{number}{_NAMES.get((2, power), '')}"
