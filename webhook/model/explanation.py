"""What a suite says of its own gaps: why a mutant may live, or why a part of a policy is never reached."""

from __future__ import annotations

from dataclasses import dataclass

from webhook.model.policy import Location


@dataclass(frozen=True, slots=True)
class Explanation:
    """A gap that a suite accounts for: `at` is a path in the policy, `what` the gap as the listing has it.

    Without `what`, all gaps there are meant; without `policy`, those of every policy of the suite.
    """

    at: str
    what: str
    why: str
    location: Location
    policy: str = ""

    def covers(self, path: str, what: str) -> bool:
        """Is this the gap that is meant."""
        return self.at == path and self.what in ("", what)
