"""How long a review may take: what the API server says in `?timeout=`, less what the answer needs on its way."""

from __future__ import annotations

import re
import time
from typing import Final

DEFAULT: Final = 10.0
"""Seconds, where the URL names none: Kubernetes' default for `timeoutSeconds`."""
LONGEST: Final = 30.0
"""Seconds: the most that Kubernetes lets a webhook have."""

_UNITS: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_DURATION: Final = re.compile(r"(?:\d+(?:\.\d*)?(?:h|ms|m|s|us|µs|ns))+", re.ASCII)
_PART: Final = re.compile(r"(\d+(?:\.\d*)?)(h|ms|m|s|us|µs|ns)", re.ASCII)


def parse_duration(text: str) -> float:
    """Read a Go duration (`10s`, `1m30s`, `500ms`) as seconds. Raises ValueError."""
    if not _DURATION.fullmatch(text):
        raise ValueError(f"got `{text[:40]}`, want a duration such as `10s` or `500ms`")
    return sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))


class Deadline:
    """Called, says whether the time is over.

    A tenth of the timeout (at most a second) is kept back: an answer that says which policy ran out
    of time must still reach the API server, whose own error would name only the webhook.
    """

    __slots__ = ("_end",)

    def __init__(self, timeout: float, start: float) -> None:
        """Count `timeout` seconds from `start`, a time of `time.monotonic`."""
        timeout = min(timeout, LONGEST)
        self._end = start + timeout - min(timeout / 10, 1.0)

    def __call__(self) -> bool:
        return time.monotonic() > self._end

    @property
    def left(self) -> float:
        """Seconds until then, never less than 0."""
        return max(0.0, self._end - time.monotonic())
