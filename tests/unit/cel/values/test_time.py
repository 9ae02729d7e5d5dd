"""Timestamps and durations."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.cel.errors import CelError
from webhook.cel.values.time import EARLIEST, LATEST, SECOND, Duration, Timestamp

MOMENTS = st.integers(EARLIEST * SECOND, LATEST * SECOND + SECOND - 1).map(Timestamp)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("2026-02-28T23:59:59Z", "2026-02-28T23:59:59Z"),
        ("2026-02-28T23:59:59.120Z", "2026-02-28T23:59:59.12Z"),
        ("2026-02-28T23:59:59,5Z", "2026-02-28T23:59:59.5Z"),
        ("2026-02-28T23:59:59.1234567899Z", "2026-02-28T23:59:59.123456789Z"),
        ("2026-02-28T3:59:59+01:30", "2026-02-28T03:59:59+01:30"),
        ("2026-02-28T23:59:59-00:00", "2026-02-28T23:59:59Z"),
        ("0000-12-31T23:30:00-01:00", "0000-12-31T23:30:00-01:00"),
        ("9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999999999Z"),
        ("2000-02-29T00:00:00Z", "2000-02-29T00:00:00Z"),
    ],
)
def test_a_timestamp_is_written_in_its_own_zone(text: str, written: str) -> None:
    assert str(Timestamp.parse(text)) == written


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-02-28",
        "2026-02-28 23:59:59Z",
        "2026-02-28t23:59:59Z",
        "2026-02-28T23:59:59",
        "2026-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-02-28T24:00:00Z",
        "2026-02-28T23:59:60Z",
        "2026-02-28T23:59:59+25:00",
        "2026-02-28T23:59:59+00:61",
        "٢026-02-28T23:59:59Z",
    ],
)
def test_what_is_no_timestamp(text: str) -> None:
    with pytest.raises(CelError, match=r"^type conversion error from 'string' to 'google\.protobuf\.Timestamp'$"):
        Timestamp.parse(text)


@pytest.mark.parametrize("text", ["0001-01-01T00:30:00+01:00", "9999-12-31T23:30:00-01:00", "0000-06-01T00:00:00Z"])
def test_moments_outside_of_the_calendar_overflow(text: str) -> None:
    with pytest.raises(CelError, match=r"^timestamp overflow$"):
        Timestamp.parse(text)


@given(MOMENTS)
def test_reading_what_was_written_gives_the_moment(moment: Timestamp) -> None:
    assert Timestamp.parse(str(moment)) == moment


@given(st.datetimes(timezones=st.just(UTC)))
def test_the_clock_agrees_with_pythons(moment: datetime) -> None:
    seconds = int((moment.replace(microsecond=0) - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds())
    clock = Timestamp(seconds * SECOND).clock()
    assert clock[:3] == (moment.year, moment.month, moment.day)
    assert clock.weekday == moment.isoweekday() % 7
    assert clock.day_of_year == moment.timetuple().tm_yday - 1
    assert clock.second == moment.hour * 3600 + moment.minute * 60 + moment.second


def test_the_zone_does_not_count_in_comparisons() -> None:
    assert Timestamp.parse("2026-02-28T12:00:00+02:00") == Timestamp.parse("2026-02-28T10:00:00Z")


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("0", 0),
        ("-0", 0),
        ("1h30m", 5400 * SECOND),
        ("+1.5s", 1_500_000_000),
        ("-1m0.000000001s", -60_000_000_001),
        (".5s", 500_000_000),
        ("5.s", 5 * SECOND),
        ("1us1µs1μs", 3_000),
        ("2ms", 2_000_000),
        ("0.6666666666666666667h", 2400 * SECOND),
        ("9223372036854775807ns", 2**63 - 1),
        ("-9223372036854775808ns", -(2**63)),
    ],
)
def test_durations(text: str, nanoseconds: int) -> None:
    assert Duration.parse(text) == Duration(nanoseconds)


@pytest.mark.parametrize(
    "text", ["", "5", "s", ".s", "1d", "1e3s", "1 s", "1H", "--1s", "9223372036854775808ns", "-9223372036854775809ns"]
)
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(CelError, match=r"^type conversion error from 'string' to 'google\.protobuf\.Duration'$"):
        Duration.parse(text)


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [(0, "0s"), (5400 * SECOND, "5400s"), (1, "0.000000001s"), (-1_500_000_000, "-1.5s"), (10**18, "1000000000s")],
)
def test_a_duration_is_written_in_seconds(nanoseconds: int, text: str) -> None:
    assert str(Duration(nanoseconds)) == text


@given(st.integers(-(10**15), 10**15))
def test_the_text_of_a_duration_is_right_to_the_nanosecond(nanoseconds: int) -> None:
    read = Duration.parse(str(Duration(nanoseconds))).nanoseconds
    assert abs(read - nanoseconds) <= 1  # it is written from a double, as in Go
