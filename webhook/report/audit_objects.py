"""Findings as objects of the cluster: PolicyReport (wgpolicyk8s.io/v1alpha2) and Report (openreports.io/v1alpha1).

One for each object that there is something to say about, owned by it, so that it goes when the object goes. Results are
the same in both formats.

https://github.com/kubernetes-sigs/wg-policy-prototypes/tree/master/policy-report
https://github.com/openreports/reports-api
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final, TextIO

from webhook.model import path
from webhook.model.decision import Outcome
from webhook.model.fragment import scalar
from webhook.model.request import Object
from webhook.model.result import Checked, Result
from webhook.report.text import fix_words

SOURCE: Final = "cozyguard"

_OPEN_REPORTS: Final = "openreports"
FORMATS: Final = {
    "policyreport": ("wgpolicyk8s.io/v1alpha2", "PolicyReport", "ClusterPolicyReport"),
    _OPEN_REPORTS: ("openreports.io/v1alpha1", "Report", "ClusterReport"),
}
"""Group and version, the kind in a namespace, and that of objects that are in none."""

_MOST_RESULTS: Final = 100
"""Of one object; the most severe come first, and the summary counts all."""
_LONGEST: Final = 1000
"""Characters of a text: 100 results stay well below the 1.5 MiB that etcd takes."""
_SUMMARY: Final = ("pass", "fail", "warn", "error", "skip")
_RESULTS: Final = {
    Outcome.PASS: "pass",
    Outcome.DENY: "fail",
    Outcome.AUDIT: "fail",
    Outcome.WARN: "warn",
    Outcome.ERROR: "error",
    Outcome.SKIP: "skip",
}


def report(form: str, obj: Object, checked: Checked, now: datetime, part: str = "") -> Object | None:
    """Write what was found of a live object, or None when that is nothing.

    `part` tells reports of one object apart, where it is judged in several versions.
    """
    told = [result for result in checked.results if result.finding.outcome is not Outcome.SKIP]
    if not told:
        return None
    api_version, namespaced, cluster = FORMATS[form]
    scope = _reference(obj)
    counts = Counter(map(_result, told))
    stamp = {"timestamp": {"seconds": int(now.timestamp()), "nanos": 0}}
    content: Object = {
        "scope": scope,
        "summary": {word: counts[word] for word in _SUMMARY},
        "results": [_entry(result, scope) | stamp for result in told[:_MOST_RESULTS]],
    }
    if form == _OPEN_REPORTS:
        content |= {"source": SOURCE, "configuration": {"limits": {"maxResults": _MOST_RESULTS}}}
    metadata: Object = {"name": "-".join(filter(None, (SOURCE, _identity(scope), part)))}
    if "uid" in scope:
        metadata["ownerReferences"] = [{key: scope[key] for key in ("apiVersion", "kind", "name", "uid")}]
    if namespace := scope.get("namespace"):
        metadata["namespace"] = namespace
    return {"apiVersion": api_version, "kind": namespaced if namespace else cluster, "metadata": metadata, **content}


class Listing:
    """Reports of several objects as one List, for `kubectl apply` and other programs; so many at most."""

    def __init__(self, most: int) -> None:
        """Start empty."""
        self._most = most
        self._reports: list[Object] = []

    def add(self, made: Object) -> None:
        """Take a report, as long as there is room."""
        if len(self._reports) < self._most:
            self._reports.append(made)

    def write(self, out: TextIO) -> None:
        """Write them in the order of the objects' names."""
        items = sorted(self._reports, key=_place)
        json.dump({"apiVersion": "v1", "kind": "List", "items": items}, out, indent=1)
        out.write("\n")


def _place(made: Object) -> tuple[str, ...]:
    return tuple(made["scope"].get(key, "") for key in ("apiVersion", "kind", "namespace", "name"))


def _reference(obj: Object) -> dict[str, str]:
    metadata = obj["metadata"]
    found = {"apiVersion": obj["apiVersion"], "kind": obj["kind"]}
    return found | {key: metadata[key] for key in ("namespace", "name", "uid") if metadata.get(key)}


def _identity(scope: dict[str, str]) -> str:
    """Give the object's uid; some aggregated APIs have none."""
    return scope.get("uid") or hashlib.sha256("\0".join(scope.values()).encode()).hexdigest()[:32]


def _result(result: Result) -> str:
    """Say it in the words of the format: what does not count was not asked."""
    if result.silenced or result.finding.ignored:
        return "skip"
    return _RESULTS[result.finding.outcome]


def _entry(result: Result, scope: dict[str, str]) -> dict[str, Any]:
    finding, policy = result.finding, result.finding.policy
    at = {"fieldPath": path.render(finding.field)} if finding.field else {}
    entry = {
        "source": SOURCE,
        "policy": policy.name,
        "rule": finding.rule,
        "category": policy.category,
        "severity": policy.severity.value,
        "result": _result(result),
        "scored": True,
        "message": _cut(finding.message),
        "resources": [scope | at],
        "properties": {name: _cut(text) for name, text in _properties(result)},
    }
    return {key: value for key, value in entry.items() if value}


def _properties(result: Result) -> Iterator[tuple[str, str]]:
    """Yield what the format has no place for."""
    finding = result.finding
    if finding.suggestion is not None:
        yield "suggestion", scalar(finding.suggestion)
    if words := fix_words(finding):
        yield "fix", words
    if finding.why:
        yield "why", finding.why
    if finding.policy.docs:
        yield "docs", finding.policy.docs
    if result.set_by:
        yield "setBy", result.set_by.manager
    if result.silenced and (exception := result.silenced.exception):
        yield "exception", exception.name


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
