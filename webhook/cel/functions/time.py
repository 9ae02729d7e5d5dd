"""Parts of timestamps and durations: `t.getHours()`, `t.getHours('Europe/Berlin')`, `d.getSeconds()`.

The checker declares them. A timestamp's parts are those of its clock, in UTC unless a time zone is
named; a duration's are the whole span in that unit. Source: cel-go `common/stdlib/standard.go`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from webhook.cel.errors import CelError
from webhook.cel.functions.library import Function, Library
from webhook.cel.values.time import SECOND, Clock, Duration, Timestamp
from webhook.cel.values.types import no_such_overload

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,9}")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST: Final = datetime(1, 1, 2, tzinfo=UTC)
_LAST: Final = datetime(9999, 12, 30, tzinfo=UTC)


def _offset(moment: Timestamp, zone: str) -> int:
    """Seconds east of UTC in a zone: an IANA name, or `+01:00`. Raises CelError when there is none such."""
    hours, colon, minutes = zone.partition(":")
    if colon:
        total = _atoi(hours) * 60 + (-_atoi(minutes) if zone.startswith("-") else _atoi(minutes))
        return total * 60
    place = _zone(zone)
    if place is None:
        return 0
    # the first and the last day of the calendar have the offset of the days beside them
    seconds = moment.nanoseconds // SECOND
    utc = min(max(_EPOCH + timedelta(seconds=seconds), _FIRST), _LAST)
    offset = utc.astimezone(place).utcoffset()
    return int(offset.total_seconds()) if offset else 0


def _atoi(text: str) -> int:
    if _NUMBER.fullmatch(text):
        return int(text)
    raise CelError(f'strconv.Atoi: parsing "{text}": invalid syntax')


@lru_cache(maxsize=64)
def _zone(name: str) -> ZoneInfo | None:
    if name in {"", "UTC", "Local"}:
        return None
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # not above: few expressions name a time zone

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, OSError):
        raise CelError(f"unknown time zone {name}") from None
    except ValueError:
        raise CelError("time: invalid location name") from None


def _getter(name: str, part: Callable[[Clock], int], span: Callable[[Duration], int] | None = None) -> Function:
    def get(value: Any, *zone: Any) -> int:
        if type(value) is Timestamp:
            if not zone:
                return part(value.clock())
            if len(zone) == 1 and type(zone[0]) is str:
                return part(value.clock(_offset(value, zone[0])))
        elif type(value) is Duration and span and not zone:
            return span(value)
        raise no_such_overload(name, value, *zone)

    return Function(name, (), get)


def _units(nanoseconds: int) -> Callable[[Duration], int]:
    def span(duration: Duration) -> int:
        whole, rest = duration.split(nanoseconds)
        return int(whole + rest / nanoseconds)  # as a double, like Go's Duration.Hours

    return span


LIBRARIES: Final = (
    Library(
        "time",
        "1.0",
        (
            _getter("getFullYear", lambda clock: clock.year),
            _getter("getMonth", lambda clock: clock.month - 1),
            _getter("getDate", lambda clock: clock.day),
            _getter("getDayOfMonth", lambda clock: clock.day - 1),
            _getter("getDayOfWeek", lambda clock: clock.weekday),
            _getter("getDayOfYear", lambda clock: clock.day_of_year),
            _getter("getHours", lambda clock: clock.second // 3600, _units(3600 * SECOND)),
            _getter("getMinutes", lambda clock: clock.second // 60 % 60, _units(60 * SECOND)),
            _getter("getSeconds", lambda clock: clock.second % 60, _units(SECOND)),
            _getter(
                "getMilliseconds",
                lambda clock: clock.nanosecond // 1_000_000,
                lambda span: span.split(1_000_000)[0],
            ),
        ),
    ),
)
