"""A request that was made some time ago, and what a run over many of them says of it."""

from __future__ import annotations

from dataclasses import dataclass

from webhook.model.request import AdmissionRequest


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request, where its recording stands, and what was answered then (None: the recording does not tell).

    `time` is RFC 3339, "" where nobody wrote it down.
    """

    request: AdmissionRequest
    file: str
    line: int
    time: str = ""
    allowed: bool | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """Who asked for what, as a finding about a recorded request tells it: `times` it was the same."""

    operation: str
    user: str
    time: str
    allowed: bool | None
    times: int = 1
