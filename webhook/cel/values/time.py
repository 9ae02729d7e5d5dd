"""Timestamps and durations in whole nanoseconds, read and written as Go does (RFC 3339, `1h30m`)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date
from typing import Final, NamedTuple, Self

from webhook.cel.errors import CelError
from webhook.cel.values.text import positional
from webhook.cel.values.types import cel_type

SECOND: Final = 1_000_000_000
"""Nanoseconds."""

EARLIEST: Final = -62_135_596_800
"""0001-01-01T00:00:00Z in seconds from 1970."""

LATEST: Final = 253_402_300_799
"""9999-12-31T23:59:59Z in seconds from 1970; its nanoseconds are still inside the range."""

_DAY: Final = 86_400
_EPOCH: Final = date(1970, 1, 1).toordinal()
_CYCLE: Final = date(401, 1, 1).toordinal() - 1
"""Days after which the calendar repeats: 400 years."""

_TIMESTAMP: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d?):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))", re.ASCII
)
_DURATION: Final = re.compile(r"([+-]?)(0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)", re.ASCII)
_PART: Final = re.compile(r"(\d*)\.?(\d*)([a-zµμ]+)", re.ASCII)
_UNITS: Final = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": SECOND,
    "m": 60 * SECOND,
    "h": 3600 * SECOND,
}


class Clock(NamedTuple):
    """A moment as a calendar and a clock show it. The year can be 0 or 10000 at the ends of the range."""

    year: int
    month: int
    day: int
    weekday: int
    """0 is Sunday."""
    day_of_year: int
    """0 is the first of January."""
    second: int
    """Seconds since midnight."""
    nanosecond: int


@cel_type("google.protobuf.Timestamp")
@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """A moment in nanoseconds from 1970, years 1 to 9999.

    `offset` is the time zone it was written in, in seconds east of UTC. It shows in `string(t)`
    and nowhere else: two timestamps are equal when the moment is.
    """

    nanoseconds: int
    offset: int = field(default=0, compare=False)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read RFC 3339, with the liberties that Go takes. Raises CelError."""
        match = _TIMESTAMP.fullmatch(text)
        if match is None:
            raise _unreadable("google.protobuf.Timestamp")
        fraction, sign, zone_hours, zone_minutes = match.group(7, 8, 9, 10)
        year, month, day, hour, minute, second = map(int, match.groups()[:6])
        offset = int(zone_hours or 0) * 3600 + int(zone_minutes or 0) * 60
        if hour > 23 or minute > 59 or second > 59 or int(zone_hours or 0) > 24 or int(zone_minutes or 0) > 60:
            raise _unreadable("google.protobuf.Timestamp")
        try:  # a year 400 years on has the same days, and Python has no year 0
            days = date(year % 400 + 400, month, day).toordinal() + (year // 400 - 1) * _CYCLE - _EPOCH
        except ValueError:
            raise _unreadable("google.protobuf.Timestamp") from None
        offset = -offset if sign == "-" else offset
        seconds = days * _DAY + hour * 3600 + minute * 60 + second - offset
        if not EARLIEST <= seconds <= LATEST:
            raise CelError("timestamp overflow")
        return cls(seconds * SECOND + int((fraction or "")[:9].ljust(9, "0")), offset)

    def clock(self, offset: int = 0) -> Clock:
        """The moment as a clock shows it that is so many seconds east of UTC."""
        seconds, nanosecond = divmod(self.nanoseconds, SECOND)
        days, second = divmod(seconds + offset, _DAY)
        cycles, rest = divmod(days + _EPOCH - 1, _CYCLE)
        day = date.fromordinal(rest + 1)
        first = date(day.year, 1, 1)
        return Clock(
            year=day.year + cycles * 400,
            month=day.month,
            day=day.day,
            weekday=day.isoweekday() % 7,
            day_of_year=(day - first).days,
            second=second,
            nanosecond=nanosecond,
        )

    def __str__(self) -> str:
        clock = self.clock(self.offset)
        minutes, second = divmod(clock.second, 60)
        fraction = f".{clock.nanosecond:09d}".rstrip("0") if clock.nanosecond else ""
        zone_minutes = abs(self.offset) // 60
        zone = f"{'-' if self.offset < 0 else '+'}{zone_minutes // 60:02d}:{zone_minutes % 60:02d}"
        return (
            f"{clock.year:04d}-{clock.month:02d}-{clock.day:02d}"
            f"T{minutes // 60:02d}:{minutes % 60:02d}:{second:02d}{fraction}{zone if self.offset else 'Z'}"
        )


@cel_type("google.protobuf.Duration")
@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A span in nanoseconds, in the range of int64."""

    nanoseconds: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `1h30m`, `1.5s`, `0`: numbers with a unit, added up, as Go reads them. Raises CelError."""
        match = _DURATION.fullmatch(text)
        if match is None:
            raise _unreadable("google.protobuf.Duration")
        total = sum(_part(*part) for part in _PART.findall(match[2]))
        nanoseconds = -total if match[1] == "-" else total
        if not -(2**63) <= nanoseconds < 2**63:
            raise _unreadable("google.protobuf.Duration")
        return cls(nanoseconds)

    @property
    def seconds(self) -> float:
        """The span in seconds, rounded as Go rounds it."""
        whole, rest = self.split(SECOND)
        return whole + rest / SECOND

    def split(self, unit: int) -> tuple[int, int]:
        """Whole units and the nanoseconds that remain, both with the sign of the span."""
        whole, rest = divmod(abs(self.nanoseconds), unit)
        return (whole, rest) if self.nanoseconds >= 0 else (-whole, -rest)

    def __str__(self) -> str:
        return f"{positional(self.seconds)}s"


def _part(whole: str, fraction: str, unit: str) -> int:
    """Nanoseconds of one number with its unit. Go reads a fraction into an int64 and a double; so do we."""
    size = _UNITS[unit]
    numerator, denominator = 0, 1
    for digit in map(int, fraction):
        if numerator > (2**63 - 1) // 10 or numerator * 10 + digit > 2**63:
            break
        numerator, denominator = numerator * 10 + digit, denominator * 10
    return int(whole or 0) * size + int(numerator * (size / denominator))


def _unreadable(want: str) -> CelError:
    return CelError(f"type conversion error from 'string' to '{want}'")
