"""What is counted, and how it is told to Prometheus: plain numbers while reviews run, families at a scrape."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from webhook.model.decision import Decision

Samples = dict[str, list[list[Any]]]
"""Samples of one process as JSON can carry them: a sample's name → [label values…, number]."""

_BOUNDS: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds: most reviews take a fraction of a millisecond, and none more than the API server waits."""


@dataclass(frozen=True, slots=True)
class Family:
    """A metric. `add` makes one number of those of several worker processes.

    A gauge that has no sum is told for the worker that is worst off.
    """

    name: str
    kind: str
    help: str
    labels: tuple[str, ...] = ()
    add: Callable[[Iterable[float]], float] = sum
    suffixes: tuple[str, ...] = ("",)


FAMILIES: Final = (
    Family(
        "cozyguard_requests",
        "counter",
        "requests by endpoint, operation and outcome: allowed, patched, denied, failed, or an HTTP status",
        ("endpoint", "operation", "outcome"),
        suffixes=("_total",),
    ),
    Family(
        "cozyguard_review_duration_seconds",
        "histogram",
        "from the whole body read to the answer made",
        ("endpoint",),
        suffixes=("_bucket", "_sum", "_count"),
    ),
    Family("cozyguard_requests_in_flight", "gauge", "requests under way"),
    Family(
        "cozyguard_findings", "counter", "findings of policies by outcome", ("policy", "outcome"), suffixes=("_total",)
    ),
    Family("cozyguard_patches", "counter", "requests that a policy has patched", ("policy",), suffixes=("_total",)),
    Family(
        "cozyguard_exceptions",
        "counter",
        "findings that did not count, for an exception lets the rule pass",
        ("exception", "policy"),
        suffixes=("_total",),
    ),
    Family("cozyguard_policies", "gauge", "policies in force", add=min),
    Family(
        "cozyguard_invalid_objects", "gauge", "installed policies and exceptions that are invalid", ("kind",), add=max
    ),
    Family(
        "cozyguard_reloads",
        "counter",
        "files read again after a change, by what was read (state: policies and all else that decides; certificate)",
        ("what", "result"),
        suffixes=("_total",),
    ),
    Family(
        "cozyguard_last_good_load_timestamp_seconds",
        "gauge",
        "when what is in force was loaded",
        ("what",),
        add=min,
    ),
    Family("cozyguard_certificate_expiry_timestamp_seconds", "gauge", "when the certificate expires", add=min),
    Family("cozyguard_cache_objects", "gauge", "objects kept of what is watched", ("watched",), add=max),
    Family(
        "cozyguard_cache_synced", "gauge", "whether lookups are answered from what is watched", ("watched",), add=min
    ),
    Family(
        "cozyguard_cache_last_event_age_seconds", "gauge", "since the API server told anything", ("watched",), add=max
    ),
    Family(
        "cozyguard_cache_requests", "counter", "lists and watches begun", ("watched", "request"), suffixes=("_total",)
    ),
    Family("cozyguard_cache_errors", "counter", "failed lists and watches", ("watched", "error"), suffixes=("_total",)),
    Family("cozyguard_leader", "gauge", "whether this replica leads"),
    Family(
        "cozyguard_controller_errors", "counter", "failures of the controller's tasks", ("task",), suffixes=("_total",)
    ),
    Family(
        "cozyguard_registration_in_sync",
        "gauge",
        "whether the webhook configuration is as it should be, told by the leader",
        ("webhooks",),
        add=max,
    ),
    Family(
        "cozyguard_registration_repairs",
        "counter",
        "changes of others to the webhook configurations that were undone",
        ("webhooks",),
        suffixes=("_total",),
    ),
    Family(
        "cozyguard_certificate_rotation", "gauge", "the step of the rotation, told by the leader", ("step",), add=max
    ),
    Family("cozyguard_audits", "counter", "audits by the leader, by result", ("result",), suffixes=("_total",)),
    Family(
        "cozyguard_audit_findings",
        "gauge",
        "findings of the last audit, told by the leader",
        ("policy", "outcome"),
        add=max,
    ),
    Family("cozyguard_audit_objects", "gauge", "objects of the last audit: all, denied", ("which",), add=max),
    Family("cozyguard_audit_duration_seconds", "gauge", "how long the last audit took", add=max),
    Family("cozyguard_audit_last_success_timestamp_seconds", "gauge", "when the last audit ended", add=max),
    Family(
        "cozyguard_recorded_reviews",
        "counter",
        "reviews that --record has written, or dropped, as the disk was slow or full",
        ("result",),
        suffixes=("_total",),
    ),
    Family("cozyguard_workers", "gauge", "worker processes that answer"),
    Family("cozyguard_worker_restarts", "counter", "worker processes started again", suffixes=("_total",)),
)


class Metrics:
    """The numbers of one process. Reviews run on one thread, so adding is all there is to it."""

    def __init__(self) -> None:
        """Start from zero."""
        self.in_flight = 0
        self._requests: defaultdict[tuple[str, str, str], int] = defaultdict(int)
        self._buckets: dict[str, list[int]] = {}
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._findings: defaultdict[tuple[str, str], int] = defaultdict(int)
        self._patches: defaultdict[str, int] = defaultdict(int)
        self._exceptions: defaultdict[tuple[str, str], int] = defaultdict(int)

    def count(self, endpoint: str, operation: str, outcome: str) -> None:
        """Count a request; the labels come from fixed lists, never from the request's own text."""
        self._requests[endpoint, operation, outcome] += 1

    def review(self, endpoint: str, operation: str, outcome: str, decision: Decision, seconds: float) -> None:
        """Count a review and what came out of it."""
        self._requests[endpoint, operation, outcome] += 1
        buckets = self._buckets.get(endpoint)
        if buckets is None:
            buckets = self._buckets[endpoint] = [0] * (len(_BOUNDS) + 1)
        buckets[bisect_left(_BOUNDS, seconds)] += 1
        self._seconds[endpoint] += seconds
        for finding in decision.findings:
            self._findings[finding.policy.name, finding.outcome.value] += 1
        for change in decision.changes:
            self._patches[change.policy.name] += 1
        for one in decision.excused:
            self._exceptions[one.exception.name, one.finding.policy.name] += 1

    def samples(self) -> Samples:
        """Return the numbers as they stand."""
        plain: Samples = {
            "cozyguard_requests_total": [[*labels, n] for labels, n in self._requests.items()],
            "cozyguard_requests_in_flight": [[self.in_flight]],
            "cozyguard_findings_total": [[*labels, n] for labels, n in self._findings.items()],
            "cozyguard_patches_total": [[policy, n] for policy, n in self._patches.items()],
            "cozyguard_exceptions_total": [[*labels, n] for labels, n in self._exceptions.items()],
        }
        return plain | self._histogram()

    def _histogram(self) -> Samples:
        names = [*map(str, _BOUNDS), "+Inf"]
        buckets, counts = [], []
        for endpoint, numbers in self._buckets.items():
            total = 0
            for name, number in zip(names, numbers, strict=True):
                total += number
                buckets.append([endpoint, name, total])
            counts.append([endpoint, total])
        name = "cozyguard_review_duration_seconds"
        return {
            f"{name}_bucket": buckets,
            f"{name}_count": counts,
            f"{name}_sum": [[endpoint, seconds] for endpoint, seconds in self._seconds.items()],
        }


def counters(processes: Sequence[Samples]) -> Samples:
    """Add up what only grows: what processes that have ended still count for."""
    return {
        name: [[*labels, number] for labels, number in _added_up(family, (one.get(name, ()) for one in processes))]
        for family in FAMILIES
        if family.kind != "gauge"
        for name in (family.name + suffix for suffix in family.suffixes)
    }


def exposition(processes: Iterable[Samples]) -> bytes:
    """Write the numbers of all processes, added up, in Prometheus' text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Scrape(list(processes)))
    return generate_latest(registry)


class _Scrape(Collector):
    def __init__(self, processes: list[Samples]) -> None:
        self._processes = processes

    def collect(self) -> Iterator[Metric]:
        for family in FAMILIES:
            metric = Metric(family.name, family.help, family.kind)
            for suffix in family.suffixes:
                name = family.name + suffix
                labels = (*family.labels, "le") if suffix == "_bucket" else family.labels
                for values, number in _added_up(family, (p.get(name, ()) for p in self._processes)):
                    metric.add_sample(name, dict(zip(labels, values, strict=True)), number)
            yield metric


def _added_up(family: Family, processes: Iterable[Iterable[list[Any]]]) -> Iterator[tuple[tuple[str, ...], float]]:
    numbers: defaultdict[tuple[str, ...], list[float]] = defaultdict(list)
    for rows in processes:
        for *labels, number in rows:
            numbers[tuple(labels)].append(number)
    for values, summands in numbers.items():
        yield values, family.add(summands)
