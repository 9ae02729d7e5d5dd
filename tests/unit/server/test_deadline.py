import time

import pytest

from webhook.server.deadline import LONGEST, Deadline, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("10s", 10.0), ("1m30s", 90.0), ("500ms", 0.5), ("1.5s", 1.5), ("250us", 0.00025), ("1h", 3600.0)],
)
def test_a_go_duration_is_read_as_seconds(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "10", "s", "-1s", "1d", "1s ", "1e3s", "٣s"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="want a duration such as `10s`"):
        parse_duration(text)


def test_a_tenth_of_the_timeout_is_kept_back_for_the_way_of_the_answer() -> None:
    now = time.monotonic()
    assert not Deadline(10.0, now - 8.5)()
    assert Deadline(10.0, now - 9.5)()


def test_no_more_than_a_second_is_kept_back() -> None:
    now = time.monotonic()
    assert not Deadline(30.0, now - 28.5)()
    assert Deadline(30.0, now - 29.5)()


def test_nobody_gets_more_than_kubernetes_lets_a_webhook_have() -> None:
    assert Deadline(3600.0, time.monotonic()).left <= LONGEST


def test_what_is_left_is_never_negative() -> None:
    assert Deadline(1.0, time.monotonic() - 60).left == 0.0
