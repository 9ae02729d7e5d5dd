"""The counts of a run and its exit code, worked out once for all reports."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from enum import IntEnum

from webhook.errors import DocumentError
from webhook.model.decision import Outcome
from webhook.model.result import Checked


class ExitCode(IntEnum):
    """What a command answers to the shell."""

    OK = 0
    """Nothing is denied."""
    DENIED = 1
    """Something is denied or in error, or counts as such by `--fail-on`."""
    FAULTY = 2
    """A flag, a policy or an input cannot be used; wins over DENIED."""
    UNREACHABLE = 3
    """The cluster does not answer."""
    INTERRUPTED = 130
    """Ctrl-C: 128 and the number of the signal, as shells have it."""
    BROKEN_PIPE = 141
    """Whoever read the output has gone."""


class Summary:
    """Adds up as results come in: findings by outcome, silenced ones apart, and objects."""

    def __init__(self) -> None:
        """Start at nothing."""
        self.resources = 0
        self.resources_denied = 0
        self.resources_patched = 0
        self.patches = 0
        self.silenced = 0
        self.fixed = 0
        self.faults = 0
        self.outcomes: Counter[Outcome] = Counter()
        self.by_policy: defaultdict[str, Counter[Outcome]] = defaultdict(Counter)

    def add(self, checked: Checked) -> None:
        """Count one object. An ignored error counts for nothing."""
        self.resources += 1
        self.resources_denied += any(result.refuses for result in checked.results)
        self.resources_patched += bool(checked.patches)
        self.patches += len(checked.patches)
        for result in checked.results:
            if result.silenced:
                self.silenced += 1
            elif not result.finding.ignored:
                self.outcomes[result.finding.outcome] += 1
                self.by_policy[result.finding.policy.name][result.finding.outcome] += 1

    def add_faults(self, faults: Collection[DocumentError]) -> None:
        """Count what is wrong with policies or inputs themselves."""
        self.faults += len(faults)

    def exit_code(self, fail_on: Collection[Outcome] = ()) -> ExitCode:
        """Judge the whole run; `fail_on` names outcomes that count like a denial."""
        if self.faults:
            return ExitCode.FAULTY
        if self.resources_denied or any(self.outcomes[outcome] for outcome in fail_on):
            return ExitCode.DENIED
        return ExitCode.OK
