"""Coverage of policies: what no case reached, a line each with its place, for people; all of it for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from webhook.model.coverage import Coverage, PolicyCoverage, Spot
from webhook.report.plain import visible
from webhook.report.style import Style
from webhook.report.text import count


def lines(coverage: Coverage, style: Style, want: int | None = None) -> Iterator[str]:
    """List what was not reached, then how much was; `want` is the least share that is enough, in percent."""
    for policy in coverage.policies:
        for spot in policy.spots:
            if spot.missing and spot.listed:
                at = spot.location
                yield (
                    f"{visible(at.file)}:{at.line}:{at.column}: {style(spot.words, 'yellow')}: "
                    f"{visible(spot.line)} {style(f'({at.path})', 'dim')}"
                )
    enough = want is None or coverage.percent >= want
    policies = count(len(coverage.policies), "policy", "policies")
    told = f"covered {coverage.reached} of {count(coverage.total, 'outcome')} of {policies}"
    told += (f", {coverage.explained} explained" if coverage.explained else "") + f": {coverage.percent:g} %"
    told += "" if enough else f", want {want} %"
    yield style(told, *(("bold",) if enough else ("bold", "red")))


def document(coverage: Coverage) -> dict[str, Any]:
    """Give all of it as JSON: counts, and each spot that lacks an outcome."""
    return {
        "reached": coverage.reached,
        "explained": coverage.explained,
        "total": coverage.total,
        "percent": coverage.percent,
        "policies": [_policy(policy) for policy in coverage.policies],
    }


def _policy(policy: PolicyCoverage) -> dict[str, Any]:
    return {
        "policy": policy.policy.name,
        "file": policy.policy.location.file,
        "reached": policy.reached,
        "explained": policy.explained,
        "total": policy.total,
        "percent": policy.percent,
        "missing": [_spot(spot) for spot in policy.spots if spot.missing],
    }


def _spot(spot: Spot) -> dict[str, Any]:
    at = spot.location
    return {
        "line": at.line,
        "column": at.column,
        "path": at.path,
        "source": spot.excerpt,
        "outcomes": list(spot.outcomes),
        "missing": list(spot.missing),
    }
