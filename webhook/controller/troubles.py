"""What the controller has to say, and to count: once when it becomes true, not each time that it still is."""

from __future__ import annotations

from collections import Counter
from typing import Any, Protocol

Samples = dict[str, list[list[Any]]]
"""Numbers for metrics: a sample's name → [label values…, number]."""


class Log(Protocol):
    """Where lines are written: a constant message, and fields."""

    def info(self, msg: str, **fields: Any) -> None:
        """Write what goes on as it should."""

    def warning(self, msg: str, **fields: Any) -> None:
        """Write what somebody may want to look at."""

    def error(self, msg: str, **fields: Any) -> None:
        """Write what somebody has to look at."""


class Troubles:
    """What stands in the way of each task, shared by all; `failures` counts by task how often something did."""

    def __init__(self, log: Log) -> None:
        """Start without any."""
        self.log = log
        self._current: dict[str, str] = {}
        self.failures: Counter[str] = Counter()

    def fail(self, what: str, error: str) -> None:
        """Note that a task has failed; the line is written when the reason is a new one."""
        self.failures[what] += 1
        if self._current.get(what) != error:
            self._current[what] = error
            self.log.error("the controller cannot go on", what=what, error=error)

    def clear(self, what: str) -> None:
        """Note that a task is done."""
        if self._current.pop(what, None):
            self.log.info("the controller goes on", what=what)

    def __getitem__(self, what: str) -> str:
        return self._current.get(what, "")
