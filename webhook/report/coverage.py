"""Coverage of policies: what no case reached, a line each with its place, for people; all of it for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from webhook.model.coverage import Coverage, PolicyCoverage, Spot
from webhook.report.plain import visible
from webhook.report.style import Style
from webhook.report.text import count

_NEVER: Final = {
    "true": "never true",
    "false": "never false",
    "present": "never present",
    "absent": "never absent",
    "elements": "never has elements",
    "none": "never empty",
    "a value": "never evaluated",
    "matched": "never matched",
}
_LONGEST: Final = 96
"""Characters of an excerpt on a terminal."""


def lines(coverage: Coverage, style: Style, want: int | None = None) -> Iterator[str]:
    """List what was not reached, then how much was; `want` is the least share that is enough, in percent."""
    for policy in coverage.policies:
        for spot in policy.spots:
            if spot.missing and spot.listed:
                at = spot.location
                yield (
                    f"{visible(at.file)}:{at.line}:{at.column}: {style(words(spot), 'yellow')}: "
                    f"{visible(excerpt(spot))} {style(f'({at.path})', 'dim')}"
                )
    enough = want is None or coverage.percent >= want
    policies = count(len(coverage.policies), "policy", "policies")
    told = f"covered {coverage.reached} of {count(coverage.total, 'outcome')} of {policies}: "
    told += f"{coverage.percent:g} %" + ("" if enough else f", want {want} %")
    yield style(told, *(("bold",) if enough else ("bold", "red")))


def words(spot: Spot) -> str:
    """Say how a spot never came out."""
    if len(spot.missing) == len(spot.outcomes) and spot.outcomes != ("matched",):
        return "never evaluated"
    return ", ".join(_NEVER[outcome] for outcome in spot.missing)


def excerpt(spot: Spot) -> str:
    """Give the text of a spot on one line, cut where it is long."""
    text = " ".join(spot.excerpt.split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def document(coverage: Coverage) -> dict[str, Any]:
    """Give all of it as JSON: counts, and each spot that lacks an outcome."""
    return {
        "reached": coverage.reached,
        "total": coverage.total,
        "percent": coverage.percent,
        "policies": [_policy(policy) for policy in coverage.policies],
    }


def _policy(policy: PolicyCoverage) -> dict[str, Any]:
    return {
        "policy": policy.policy.name,
        "file": policy.policy.location.file,
        "reached": policy.reached,
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
