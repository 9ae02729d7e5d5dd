"""Cozystack releases: versions, ranges of them, and what a release ships."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

_MINOR = re.compile(r"v?(\d+)\.(\d+)(?:[.+-].*)?")
_BOUND = re.compile(r"(>=|<=|>|<|=|==)?\s*v?(\d+)\.(\d+)(?:\.\d+)?")


class Minor(NamedTuple):
    """A minor release, `1.6`; patch and pre-release parts are dropped on reading."""

    major: int
    minor: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `1.6`, `v1.6.2` or `v1.7.0-rc.1`. Raises ValueError for anything else."""
        if not (match := _MINOR.fullmatch(text.strip())):
            raise ValueError(f"got `{text}`, want a release such as `1.6` or `v1.6.2`")
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


@dataclass(frozen=True, slots=True)
class ReleaseRange:
    """On which releases a policy holds: comparisons joined by commas, all of which must be true."""

    text: str
    bounds: tuple[tuple[str, Minor], ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `>=1.5,<1.7`. Raises ValueError that names the part which cannot be read."""
        bounds = []
        for part in text.split(","):
            if not (match := _BOUND.fullmatch(part.strip())):
                raise ValueError(f"got `{part.strip()}`, want comparisons such as `>=1.5,<1.7`")
            bounds.append((match[1] or "=", Minor(int(match[2]), int(match[3]))))
        return cls(text, tuple(bounds))

    def __contains__(self, release: Minor) -> bool:
        return all(_holds(release, operator, bound) for operator, bound in self.bounds)


def _holds(release: Minor, operator: str, bound: Minor) -> bool:
    match operator:
        case ">=":
            return release >= bound
        case ">":
            return release > bound
        case "<=":
            return release <= bound
        case "<":
            return release < bound
        case _:
            return release == bound


@dataclass(frozen=True, slots=True)
class Release:
    """One release's catalogue entry. `facts` is the CEL variable `release`.

    Shape of `facts`: `version` (`"1.6"`), `source` (what it was read from: a tag, or `documentation`),
    `packages` (name → `{"variants": {variant: [component]}}`) and `gpu` (`bundleVariants`,
    `packageVariants`, …).
    """

    version: Minor
    facts: dict[str, Any]
    documented_only: bool = False
