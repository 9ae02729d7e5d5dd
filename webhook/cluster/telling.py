"""How it stands with what is watched: for people, and as numbers for metrics."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, NamedTuple

from webhook.cluster.reflector import Reflector
from webhook.cluster.table import Table

Samples = dict[str, list[list[Any]]]
"""Numbers for metrics: a sample's name → [label values…, number]."""


class Watching(NamedTuple):
    """Objects that are watched, under a name for people: `Package.cozystack.io`."""

    name: str
    reflector: Reflector
    table: Table


def report(watching: Iterable[Watching]) -> dict[str, Any]:
    """Say how things stand, by name, as JSON.

    `{"Package.cozystack.io": {"synced": true, "state": "synced", "objects": 3, "lastError": null}}`
    """
    return {
        name: {
            "synced": reflector.synced.is_set(),
            "state": reflector.state.value,
            "objects": len(table),
            "lastError": str(reflector.last_error) if reflector.last_error else None,
        }
        for name, reflector, table in watching
    }


def samples(watching: Iterable[Watching]) -> Samples:
    """Give the numbers as they stand; the first label is the name."""
    all_of_it, now = tuple(watching), time.monotonic()
    return {
        "cozyguard_cache_objects": [[name, len(table)] for name, _, table in all_of_it],
        "cozyguard_cache_synced": [[name, int(one.synced.is_set())] for name, one, _ in all_of_it],
        "cozyguard_cache_last_event_age_seconds": [[name, now - one.heard_at] for name, one, _ in all_of_it],
        "cozyguard_cache_requests_total": [
            [name, what, number]
            for name, one, _ in all_of_it
            for what, number in (("list", one.lists), ("watch", one.watches))
        ],
        "cozyguard_cache_errors_total": [
            [name, error, number] for name, one, _ in all_of_it for error, number in one.errors.items()
        ],
    }
