"""What suites reach of policies: each part that can come out in several ways, and the ways in which it never did."""

from __future__ import annotations

from dataclasses import dataclass

from webhook.model.policy import Location, Policy


@dataclass(frozen=True, slots=True)
class Spot:
    """A part of a policy: `outcomes` are the ways in which it can come out, `missing` those that no case reached.

    `listed` is false where a part around it was not reached either, which says enough.
    """

    location: Location
    excerpt: str
    outcomes: tuple[str, ...]
    missing: tuple[str, ...]
    listed: bool = True


@dataclass(frozen=True, slots=True)
class PolicyCoverage:
    """What was reached of one policy."""

    policy: Policy
    spots: tuple[Spot, ...]

    @property
    def total(self) -> int:
        """How many outcomes there are."""
        return sum(len(spot.outcomes) for spot in self.spots)

    @property
    def reached(self) -> int:
        """How many of them some case reached."""
        return self.total - sum(len(spot.missing) for spot in self.spots)

    @property
    def percent(self) -> float:
        """Share of the outcomes that were reached."""
        return percent(self.reached, self.total)


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
    def percent(self) -> float:
        """Share of the outcomes that were reached."""
        return percent(self.reached, self.total)


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
