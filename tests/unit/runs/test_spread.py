import os
import signal
from itertools import islice

import pytest

from webhook.errors import CozyguardError
from webhook.runs.spread import spread


@pytest.mark.parametrize("processes", [1, 2, 3])
@pytest.mark.parametrize("length", [0, 1, 2, 7])
def test_answers_come_in_the_order_of_the_items(processes: int, length: int) -> None:
    answers = list(spread(lambda: range(length), lambda number: [number] * number, processes))

    assert answers == [number for number in range(length) for _ in range(number)]


def test_the_work_is_done_in_other_processes() -> None:
    workers = set(spread(lambda: range(4), lambda _: [os.getpid()], 2))

    assert len(workers) == 2
    assert os.getpid() not in workers


def test_answers_larger_than_a_pipe_pass_through() -> None:
    sizes = [len(text) for text in spread(lambda: range(6), lambda number: ["x" * 1_000_000], 2)]

    assert sizes == [1_000_000] * 6


def test_whoever_stops_listening_ends_the_processes() -> None:
    answers = spread(lambda: range(1000), lambda number: [(os.getpid(), "x" * 100_000)], 2)
    pids = {pid for pid, _ in islice(answers, 2)}
    answers.close()  # type: ignore[attr-defined]  # a generator, used as the iterator that it is

    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def killed(_: int) -> list[int]:
    os.kill(os.getpid(), signal.SIGKILL)
    return []


def test_a_killed_process_is_an_error_not_a_shorter_answer() -> None:
    with pytest.raises(CozyguardError, match="worker process ended before its work was done"):
        list(spread(lambda: range(2), killed, 2))
