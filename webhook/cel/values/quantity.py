"""Quantities: `500m`, `1.5Gi`, `12e6`.

A quantity is a whole number times a power of ten. The API server keeps it in 64 bits where it can, else in
a decimal of any length, and some answers depend on which of the two it is: `quantity('1Ei')` is no integer
to it. Source: `pkg/api/resource` of k8s.io/apimachinery.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import MAX_EMAX, MIN_EMIN, ROUND_UP, Context, Decimal, DecimalException, Inexact
from typing import Final, Self

from webhook.cel.errors import CelError
from webhook.cel.values.opaque import Opaque
from webhook.cel.values.quantity_text import BINARY, DECIMAL, SCIENTIFIC, Written, canonical, int32, read
from webhook.cel.values.types import cel_type

_INT_MIN: Final = Decimal(-(2**63))
_INT_MAX: Final = Decimal(2**63 - 1)
_DIGITS: Final = 18
"""So many digits surely fit into 64 bits."""
_NANO: Final = -9
"""The smallest power of ten that a quantity has."""
_EXACT: Final = Context(prec=100_000, Emax=MAX_EMAX, Emin=MIN_EMIN, rounding=ROUND_UP, traps=[Inexact])
"""Arithmetic that never rounds. The API server has no limit of digits, and computes for minutes instead."""
_CEILING: Final = Context(prec=100_000, Emax=MAX_EMAX, Emin=MIN_EMIN, rounding=ROUND_UP, traps=[])

_POWERS: Final = [float(f"1e{power}") for power in range(32)]
_GREAT_POWERS: Final = [float(f"1e{power}") for power in range(0, 309, 32)]
_SMALL_POWERS: Final = [float(f"1e-{power}") for power in range(0, 324, 32)]


@cel_type("kubernetes.Quantity")
@dataclass(frozen=True, slots=True, eq=False)
class Quantity(Opaque):
    """`amount`, kept as a whole number times ten to the `exponent`.

    `small`: the API server keeps it in 64 bits. `text`: how it was written, where the API server keeps
    that. `computed`: it is a result of arithmetic, which the API server cannot compare with `==` from the right.
    """

    amount: Decimal
    exponent: int = 0
    small: bool = True
    format: str = DECIMAL
    text: str = ""
    computed: bool = False

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a quantity. Raises CelError with the API server's message."""
        written = read(text)
        try:
            return cls._small(written, text) or cls._large(written)
        except DecimalException:
            raise CelError("a quantity has at most 100000 digits") from None

    @classmethod
    def of(cls, number: int) -> Self:
        """The quantity that an int is in arithmetic."""
        return cls(Decimal(number), format=SCIENTIFIC)

    @classmethod
    def _small(cls, written: Written, text: str) -> Self | None:
        """The quantity in 64 bits, if the number of its digits says that it fits."""
        digits = written.whole + written.fraction
        if written.base == 10:
            room, exponent, unit = _DIGITS - len(digits), int32(written.exponent - len(written.fraction)), 1
        else:
            room, exponent, unit = 14 - len(digits) - written.exponent * 3 // 10, 0, 1 << written.exponent
            if written.fraction:
                return None
        if room < 0 or exponent < _NANO:
            return None
        number = int(digits)
        if written.base == 2:
            kept = number % 8 != 0
        else:
            kept = exponent % 3 == 0 and not digits.endswith("000") and digits[0] != "0"
        amount = _EXACT.scaleb(Decimal(-number * unit if written.negative else number * unit), exponent)
        return cls(amount, exponent, True, written.format, text if kept or text == "0" else "")

    @classmethod
    def _large(cls, written: Written) -> Self:
        """The quantity as a decimal: nothing is below a nano, and a binary one ends at the largest int64."""
        if not written.has_digits:
            raise CelError("unable to parse numeric part of quantity")
        exponent = int32((written.exponent if written.base == 10 else 0) - len(written.fraction))
        amount = _EXACT.scaleb(Decimal(written.whole + written.fraction), exponent)
        if written.base == 2:
            amount = _EXACT.multiply(amount, Decimal(1 << written.exponent))
        format_ = written.format
        if amount:
            amount, exponent = _rounded_up(amount), _NANO
        if format_ == BINARY:
            if amount > _INT_MAX:
                amount, exponent = _INT_MAX, 0
            elif 0 < amount < 1:
                format_ = DECIMAL
        return cls(amount.copy_negate() if written.negative else amount, exponent, False, format_)

    @property
    def sign(self) -> int:
        """-1, 0 or 1."""
        return (self.amount > 0) - (self.amount < 0)

    @property
    def integer(self) -> int | None:
        """The quantity as an int64; None where the API server does not take it for one."""
        if not self.amount:
            return 0 if self.small and self.exponent >= 0 else None
        if not self.small or self.exponent < 0 or self.amount.adjusted() > _DIGITS:
            return None
        return int(self.amount) if _INT_MIN <= self.amount <= _INT_MAX else None

    @property
    def approximation(self) -> float:
        """A double near the quantity, computed with the roundings of the API server."""
        base = float(_EXACT.scaleb(self.amount, -self.exponent))
        return base * _power(self.exponent) if self.exponent else base

    def plus(self, other: Quantity) -> Quantity:
        """The sum. Raises CelError when it has too many digits."""
        return self._sum(other, other)

    def minus(self, other: Quantity) -> Quantity:
        """The difference. Raises CelError when it has too many digits."""
        negative = replace(other, amount=other.amount.copy_negate())
        wraps = other.small and _unscaled(other) == _INT_MIN  # its negative is itself, in 64 bits
        return self._sum(other if wraps else negative, negative)

    def _sum(self, small: Quantity, exact: Quantity) -> Quantity:
        """The sum with `small` in 64 bits where that fits, else the sum with `exact`."""
        format_ = self.format if self.amount else small.format
        if self.small and small.small:
            if not small.amount:
                return Quantity(self.amount, self.exponent, True, format_, computed=True)
            if not self.amount:
                return Quantity(small.amount, small.exponent, True, format_, computed=True)
        exponent = min(self.exponent, exact.exponent)
        try:
            if self.small and small.small and _fit(exponent, self.amount, small.amount):
                total = _EXACT.add(self.amount, small.amount)
                if _fit(exponent, total):
                    return Quantity(total, exponent, True, format_, computed=True)
            total = _EXACT.add(self.amount, exact.amount)
        except DecimalException:
            raise CelError("a quantity has at most 100000 digits") from None
        return Quantity(total, exponent, False, format_, computed=True)

    def compare(self, other: Quantity) -> int:
        """-1, 0 or 1."""
        return (self.amount > other.amount) - (self.amount < other.amount)

    def _equals(self, other: Quantity) -> bool:
        if other.computed:  # the API server holds it by reference there, which its comparison does not know
            raise CelError("no such overload")
        return self.amount == other.amount

    def __str__(self) -> str:
        return self.text or canonical(self.amount, self.format)


def _rounded_up(amount: Decimal) -> Decimal:
    exponent = amount.as_tuple().exponent
    too_fine = isinstance(exponent, int) and exponent < _NANO
    return amount.quantize(Decimal((0, (1,), _NANO)), context=_CEILING) if too_fine else amount


def _unscaled(quantity: Quantity) -> Decimal:
    return _EXACT.scaleb(quantity.amount, -quantity.exponent)


def _fit(exponent: int, *amounts: Decimal) -> bool:
    """Do all of them fit into 64 bits, counted in units of ten to the exponent."""
    return all(_INT_MIN <= _EXACT.scaleb(amount, -exponent) <= _INT_MAX for amount in amounts)


def _power(exponent: int) -> float:
    """Ten to the exponent, rounded as Go's `math.Pow10` rounds it."""
    if 0 <= exponent <= 308:
        return _GREAT_POWERS[exponent // 32] * _POWERS[exponent % 32]
    if -323 <= exponent < 0:
        return _SMALL_POWERS[-exponent // 32] / _POWERS[-exponent % 32]
    return float("inf") if exponent > 0 else 0.0
