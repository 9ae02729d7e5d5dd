"""Timestamps and durations, in whole nanoseconds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from webhook.cel.values.types import cel_type

SECOND: Final = 1_000_000_000
"""Nanoseconds."""

EARLIEST: Final = -62_135_596_800
"""0001-01-01T00:00:00Z in seconds from 1970."""

LATEST: Final = 253_402_300_799
"""9999-12-31T23:59:59Z in seconds from 1970; its nanoseconds are still inside the range."""


@cel_type("google.protobuf.Timestamp")
@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """A moment in nanoseconds from 1970, years 1 to 9999.

    `offset` is the time zone it was written in, in seconds east of UTC. It shows in `string(t)`
    and nowhere else: two timestamps are equal when the moment is.
    """

    nanoseconds: int
    offset: int = field(default=0, compare=False)


@cel_type("google.protobuf.Duration")
@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A span in nanoseconds, in the range of int64."""

    nanoseconds: int
