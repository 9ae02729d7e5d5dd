from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from webhook.admission.codec import decode
from webhook.engine.policyset import PolicySet
from webhook.errors import UsageError
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


def record(file: Path, times: int, percent: float = 100, limit: int = 1 << 20) -> dict[str, int]:
    recorder = Recorder(file, percent, limit, Log())
    for number in range(times):
        recorder.take(decode(json.dumps(REVIEW).encode()), NO_POLICIES, allowed=number % 2 == 0)
        while not recorder._jobs.empty():  # as fast as the file takes them
            pass
    recorder.close()
    (counted,) = recorder.samples().values()
    return {str(name): int(number) for name, number in counted}


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
    written = record(tmp_path / "reviews.jsonl", 400, percent=25)["written"]
    assert 40 < written < 160, "100 on average; more than six standard deviations from it is no chance"


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


def test_an_object_as_deep_as_nobody_can_read_is_dropped(tmp_path: Path) -> None:
    deep: dict[str, Any] = {}
    for _ in range(5000):
        deep = {"a": deep}
    request = decode(json.dumps(REVIEW).encode()).with_object(deep)
    recorder = Recorder(tmp_path / "reviews.jsonl", 100, 1 << 20, Log())
    recorder.take(request, NO_POLICIES, allowed=True)
    recorder.take(decode(json.dumps(REVIEW).encode()), NO_POLICIES, allowed=True)
    recorder.close()
    assert recorder.samples() == {"cozyguard_recorded_reviews_total": [["written", 1], ["dropped", 1]]}
