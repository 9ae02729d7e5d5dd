"""What suites reach of policies: each part that can come out in several ways, and the ways in which it never did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from webhook.model.explanation import Explanation
from webhook.model.policy import Location, Policy

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


@dataclass(frozen=True, slots=True)
class Spot:
    """A part of a policy: `outcomes` are the ways in which it can come out, `missing` those that no case reached.

    `listed` is false where a part around it was not reached either, which says enough. `explained` are outcomes that
    were not reached, and of which a suite says why.
    """

    location: Location
    excerpt: str
    outcomes: tuple[str, ...]
    missing: tuple[str, ...]
    listed: bool = True
    explained: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """The excerpt on one line."""
        return " ".join(self.excerpt.split())

    @property
    def words(self) -> str:
        """How it never came out."""
        if len(self.missing) == len(self.outcomes) and self.outcomes != ("matched",):
            return "never evaluated"
        return ", ".join(_NEVER[outcome] for outcome in self.missing)

    @property
    def told(self) -> str:
        """What is missing, as suites name it."""
        return f"{self.words}: {self.line}"


@dataclass(frozen=True, slots=True)
class PolicyCoverage:
    """What was reached of one policy."""

    policy: Policy
    spots: tuple[Spot, ...]
    stale: tuple[Explanation, ...] = ()
    """Explanations of what was reached after all."""

    @property
    def total(self) -> int:
        """How many outcomes there are."""
        return sum(len(spot.outcomes) for spot in self.spots)

    @property
    def reached(self) -> int:
        """How many of them some case reached."""
        return self.total - sum(len(spot.missing) + len(spot.explained) for spot in self.spots)

    @property
    def explained(self) -> int:
        """How many were not reached, with a reason."""
        return sum(len(spot.explained) for spot in self.spots)

    @property
    def percent(self) -> float:
        """Share of the outcomes that were reached, or are explained."""
        return percent(self.reached + self.explained, self.total)


@dataclass(frozen=True, slots=True)
class Coverage:
    """What was reached of all policies."""

    policies: tuple[PolicyCoverage, ...]

    @property
    def total(self) -> int:
        """How many outcomes there are."""
        return sum(policy.total for policy in self.policies)

    @property
    def reached(self) -> int:
        """How many of them some case reached."""
        return sum(policy.reached for policy in self.policies)

    @property
    def explained(self) -> int:
        """How many were not reached, with a reason."""
        return sum(policy.explained for policy in self.policies)

    @property
    def percent(self) -> float:
        """Share of the outcomes that were reached, or are explained."""
        return percent(self.reached + self.explained, self.total)


def percent(part: int, whole: int) -> float:
    """Give a share in percent, rounded down to a tenth: only all of it is 100. Of nothing, all is reached."""
    return part * 1000 // whole / 10 if whole else 100.0


@dataclass(frozen=True, slots=True)
class Reached:
    """One outcome that a case reached: of a node in a function of a policy, or a rule of its `matchConstraints`."""

    policy: str
    function: str
    node: int
    outcome: str
