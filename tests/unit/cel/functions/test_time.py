"""Parts of timestamps and durations."""

from __future__ import annotations

from typing import Any

import pytest

from webhook.cel.values import Duration, Timestamp
from webhook.cel.values.time import EARLIEST, LATEST, SECOND

SUNDAY = Timestamp.parse("2026-03-29T00:59:58.987654321Z")
HOUR = 3600 * SECOND


@pytest.mark.parametrize(
    ("name", "utc", "new_york"),
    [
        ("getFullYear", 2026, 2026),
        ("getMonth", 2, 2),
        ("getDate", 29, 28),
        ("getDayOfMonth", 28, 27),
        ("getDayOfWeek", 0, 6),
        ("getDayOfYear", 87, 86),
        ("getHours", 0, 20),
        ("getMinutes", 59, 59),
        ("getSeconds", 58, 58),
        ("getMilliseconds", 987, 987),
    ],
)
def test_parts_of_a_timestamp(call: Any, name: str, utc: int, new_york: int) -> None:
    assert call(name, SUNDAY) == utc
    assert call(name, SUNDAY, "UTC") == utc
    assert call(name, SUNDAY, "America/New_York") == new_york


@pytest.mark.parametrize(
    ("zone", "hours", "minutes"),
    [
        ("", 0, 59),
        ("Local", 0, 59),
        ("+05:30", 6, 29),
        ("-00:30", 0, 29),
        ("-01:00", 23, 59),
        ("2:00", 2, 59),
        ("Asia/Kathmandu", 6, 44),
    ],
)
def test_zones(call: Any, zone: str, hours: int, minutes: int) -> None:
    assert (call("getHours", SUNDAY, zone), call("getMinutes", SUNDAY, zone)) == (hours, minutes)


def test_summer_time_begins(call: Any) -> None:
    later = Timestamp(SUNDAY.nanoseconds + 2 * SECOND)
    assert call("getHours", SUNDAY, "Europe/Berlin") == 1
    assert call("getHours", later, "Europe/Berlin") == 3


def test_the_zone_a_timestamp_was_written_in_does_not_count(call: Any) -> None:
    assert call("getHours", Timestamp.parse("2026-03-29T12:00:00+05:00")) == 7


def test_the_ends_of_the_calendar_have_neighbours(call: Any) -> None:
    assert call("getFullYear", Timestamp(EARLIEST * SECOND), "-01:00") == 0
    assert call("getDayOfYear", Timestamp(EARLIEST * SECOND), "America/New_York") == 365
    assert call("getFullYear", Timestamp(LATEST * SECOND), "Europe/Berlin") == 10000


@pytest.mark.parametrize(
    ("zone", "message"),
    [
        ("Mars/Phobos", "unknown time zone Mars/Phobos"),
        ("utc", "unknown time zone utc"),
        ("../zone", "time: invalid location name"),
        ("x:30", 'strconv.Atoi: parsing "x": invalid syntax'),
        ("1:", 'strconv.Atoi: parsing "": invalid syntax'),
    ],
)
def test_what_is_no_zone(failure: Any, zone: str, message: str) -> None:
    assert failure("getHours", SUNDAY, zone) == message


@pytest.mark.parametrize(
    ("name", "nanoseconds", "result"),
    [
        ("getHours", 90 * 60 * SECOND, 1),
        ("getHours", -90 * 60 * SECOND, -1),
        ("getMinutes", 90 * 60 * SECOND, 90),
        ("getSeconds", 90_900_000_000, 90),
        ("getMilliseconds", 1_000_900_000, 1000),
        ("getMilliseconds", -1_500_900_000, -1500),
    ],
)
def test_parts_of_a_duration_are_the_whole_span(call: Any, name: str, nanoseconds: int, result: int) -> None:
    assert call(name, Duration(nanoseconds)) == result


def test_long_durations_round_as_doubles_do_in_go(call: Any) -> None:
    assert call("getHours", Duration(2562047 * HOUR - 1)) == 2562047


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("getHours", ("2026",), "no such overload: getHours(string)"),
        ("getFullYear", (Duration(0),), "no such overload: getFullYear(google.protobuf.Duration)"),
        ("getHours", (Duration(0), "UTC"), "no such overload: getHours(google.protobuf.Duration, string)"),
        ("getHours", (SUNDAY, 1), "no such overload: getHours(google.protobuf.Timestamp, int)"),
    ],
)
def test_failures(failure: Any, name: str, arguments: Any, message: str) -> None:
    assert failure(name, *arguments) == message
