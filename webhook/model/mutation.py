"""Mutants of a policy that its cases have not killed."""

from __future__ import annotations

from dataclasses import dataclass

from webhook.model.explanation import Explanation
from webhook.model.policy import Location, Policy


@dataclass(frozen=True, slots=True)
class Survivor:
    """A change that no case notices. `hint` is a small change of a case that would; "" where none was found."""

    location: Location
    before: str
    after: str
    hint: str = ""

    @property
    def change(self) -> str:
        """The change in one line, as suites name it."""
        return f"{' '.join(self.before.split())} → {' '.join(self.after.split())}"


@dataclass(frozen=True, slots=True)
class Mutation:
    """What became of the mutants of one policy: `explained` are survivors that the suites account for.

    `stale` are explanations that no survivor needs.
    """

    policy: Policy
    made: int
    survivors: tuple[Survivor, ...]
    explained: int = 0
    stale: tuple[Explanation, ...] = ()
