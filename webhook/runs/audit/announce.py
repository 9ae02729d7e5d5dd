"""Findings as Events: `kubectl describe` of an object shows what is wrong with it."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Final

from webhook.cluster.client import Client
from webhook.cluster.faults import ApiError
from webhook.cluster.rate import Rate
from webhook.cluster.resources import EVENTS
from webhook.errors import DocumentError
from webhook.model.path import render
from webhook.model.request import Object
from webhook.model.result import Checked, Result

_MOST: Final = 200
"""Events of one run: they are for people who look at an object, and etcd keeps each for an hour."""
_LONGEST: Final = 1024
"""Bytes of a note that the API server takes."""
_NOWHERE: Final = "default"
"""Where Events about objects stand that are in no namespace."""


class Announcer:
    """Writes one Event for each object that would be refused. As long as it is there no other one says the same.

    A failure ends nothing: it is in `faults`, one for all of its sort.
    """

    def __init__(self, client: Client, rate: Rate, instance: str) -> None:
        """`instance` names who reports, such as the pod."""
        self.written = self.left_out = 0
        self._client, self._rate, self._instance = client, rate, instance
        self._failed: dict[str, int] = {}

    async def announce(self, obj: Object, checked: Checked) -> None:
        """Say what is wrong with a live object, if anything would be refused."""
        refusals = [result for result in checked.results if result.refuses]
        if not refusals:
            return
        if self.written >= _MOST:
            self.left_out += 1
            return
        event = _event(obj, refusals, self._instance)
        await self._rate.turn()
        try:
            await self._client.create(EVENTS.path(event["metadata"]["namespace"]), event)
            self.written += 1
        except ApiError as error:
            if not error.is_conflict:  # it is there already
                words = error.reason or str(error)
                self._failed[words] = self._failed.get(words, 0) + 1

    def words(self) -> str:
        """Say what has been done."""
        more = f", {self.left_out} left out: {_MOST} in one run are enough" if self.left_out else ""
        return f"events: {self.written} written{more}"

    def faults(self) -> list[DocumentError]:
        """Say what could not be done."""
        return [DocumentError("events", message=f"{number} not written: {why}") for why, number in self._failed.items()]


def _event(obj: Object, refusals: list[Result], instance: str) -> Object:
    metadata, note = obj["metadata"], _note(refusals)
    regarding = {"apiVersion": obj["apiVersion"], "kind": obj["kind"]}
    regarding |= {key: metadata[key] for key in ("namespace", "name", "uid", "resourceVersion") if metadata.get(key)}
    about = {key: value for key, value in regarding.items() if key != "resourceVersion"}
    digest = hashlib.sha256(json.dumps([about, note]).encode()).hexdigest()[:16]
    return {
        "apiVersion": EVENTS.api_version,
        "kind": EVENTS.kind,
        "metadata": {"name": f"cozyguard-{digest}", "namespace": metadata.get("namespace") or _NOWHERE},
        "eventTime": datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z"),
        "reportingController": "cozyguard.io/audit",
        "reportingInstance": instance[:128],
        "action": "Audit",
        "reason": "PolicyViolation",
        "type": "Warning",
        "regarding": regarding,
        "note": note,
    }


def _note(refusals: list[Result]) -> str:
    """Name every rule and place, the most severe first, as far as there is room."""
    findings = [result.finding for result in refusals]
    lines = [
        f"{render(one.field) + ': ' if one.field else ''}{one.message.splitlines()[0]} [{one.policy.name}]"
        for one in findings
    ]
    note = "; ".join(lines).encode()
    return (note if len(note) <= _LONGEST else note[: _LONGEST - 3] + "…".encode()).decode(errors="ignore")
