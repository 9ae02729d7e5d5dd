from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from webhook.admission.codec import decode
from webhook.engine.policyset import PolicySet
from webhook.errors import UsageError
from webhook.model.request import AdmissionRequest
from webhook.server.logs import Log
from webhook.server.recorder import Recorder

REVIEW = {
    "apiVersion": "admission.k8s.io/v1",
    "kind": "AdmissionReview",
    "request": {
        "uid": "0a6c7f10",
        "operation": "CREATE",
        "kind": {"group": "", "version": "v1", "kind": "Secret"},
        "resource": {"group": "", "version": "v1", "resource": "secrets"},
        "userInfo": {"username": "dev-1"},
        "object": {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"password": "hunter2"}},
    },
}
NO_POLICIES = PolicySet.link([])


def request() -> AdmissionRequest:
    return decode(json.dumps(REVIEW).encode())


def until(so: Callable[[], bool]) -> None:
    while not so():
        time.sleep(0)


def counts(recorder: Recorder) -> dict[str, int]:
    (counted,) = recorder.samples().values()
    return {str(name): int(number) for name, number in counted}


def take(recorder: Recorder, review: AdmissionRequest, *, allowed: bool = True) -> None:
    """Hand in a review, and return when it is written, or dropped."""
    before = counts(recorder)
    recorder.take(review, NO_POLICIES, allowed=allowed)
    until(lambda: counts(recorder) != before)


def record(file: Path, times: int, limit: int = 1 << 20) -> dict[str, int]:
    recorder = Recorder(file, 100, limit, Log())
    for number in range(times):
        take(recorder, request(), allowed=number % 2 == 0)
    recorder.close()
    return counts(recorder)


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_each_review_is_a_line_that_says_what_was_answered_and_no_secret(tmp_path: Path) -> None:
    file = tmp_path / "reviews.jsonl"
    assert record(file, 3) == {"written": 3, "dropped": 0}
    assert [one["response"]["allowed"] for one in lines(file)] == [True, False, True]
    assert decode(file.read_bytes().splitlines()[0]).name == ""
    assert "hunter2" not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_share_of_them_can_be_recorded(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "reviews.jsonl", 25, 1 << 20, Log())
    for _ in range(400):
        recorder.take(request(), NO_POLICIES, allowed=True)
        until(recorder._jobs.empty)
    recorder.close()
    assert 40 < counts(recorder)["written"] < 160, "100 on average; six standard deviations from it are no chance"


def test_a_file_grows_up_to_its_limit_and_then_no_more(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "reviews.jsonl"
    record(file, 1)
    size = file.stat().st_size
    assert record(file, 5, limit=3 * size + size // 2)["written"] == 2
    assert len(lines(file)) == 3
    assert "no more reviews are recorded" in capfd.readouterr().err


def test_a_file_that_cannot_be_written_is_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--record: `.*/none/a` cannot be written: no such file or directory"):
        Recorder(tmp_path / "none" / "a", 100, 1, Log())


@pytest.mark.parametrize("depth", [300, 5000], ids=["deeper than JSON is written", "deeper than it is copied"])
def test_an_object_as_deep_as_nobody_can_read_is_dropped(tmp_path: Path, depth: int) -> None:
    deep: dict[str, Any] = {}
    for _ in range(depth):
        deep = {"a": deep}
    recorder = Recorder(tmp_path / "reviews.jsonl", 100, 1 << 20, Log())
    take(recorder, request().with_object(deep))
    take(recorder, request())
    recorder.close()
    assert counts(recorder) == {"written": 1, "dropped": 1}


def test_a_file_that_is_moved_away_or_removed_is_begun_anew(tmp_path: Path) -> None:
    file, moved = tmp_path / "reviews.jsonl", tmp_path / "reviews.jsonl.1"
    recorder = Recorder(file, 100, 1 << 20, Log())
    take(recorder, request())
    file.rename(moved)
    take(recorder, request())
    file.unlink()
    take(recorder, request())
    recorder.close()
    assert len(lines(moved)) == len(lines(file)) == 1
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_full_file_that_is_moved_away_makes_room(tmp_path: Path) -> None:
    file = tmp_path / "reviews.jsonl"
    record(file, 1)
    recorder = Recorder(file, 100, file.stat().st_size * 3 // 2, Log())
    take(recorder, request())
    file.rename(tmp_path / "reviews.jsonl.1")
    take(recorder, request())
    recorder.close()
    assert counts(recorder) == {"written": 1, "dropped": 1}


def test_a_disk_without_room_is_told_once_and_stops_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    assert record(Path("/dev/full"), 3) == {"written": 0, "dropped": 3}
    (line,) = capfd.readouterr().err.splitlines()
    assert json.loads(line)["reason"] == "no space left on device"


def test_a_disk_that_does_not_answer_does_not_hold_up_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webhook.server.recorder._PATIENCE", 0.05)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)  # which nobody empties
    recorder = Recorder(pipe, 100, 1 << 30, Log())
    while not counts(recorder)["dropped"]:
        recorder.take(request(), NO_POLICIES, allowed=True)
    recorder.close()
    os.close(reader)
