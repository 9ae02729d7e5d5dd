"""Which policies a command works with: chosen by flags, read from files, compiled and linked."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from webhook.errors import UsageError, did_you_mean
from webhook.model.policy import Policy, Severity


@dataclass(frozen=True, slots=True)
class Selection:
    """Where policies come from, and which of them count.

    `policies` are paths that replace the bundled ones; `only` and `skipped` are globs of names, and
    what is less severe than `severity` is left out.
    """

    policies: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    severity: Severity | None = None

    def takes(self, policy: Policy) -> bool:
        """Is this policy one of those that count."""
        return (
            (not self.only or _is_called(policy, self.only))
            and not _is_called(policy, self.skipped)
            and (self.severity is None or policy.severity.rank <= self.severity.rank)
        )

    def check(self, names: Collection[str]) -> None:
        """Raise UsageError for a glob that chooses none of these: a run without policies would find nothing wrong."""
        for glob in self.only:
            if not any(fnmatchcase(name, glob) for name in names):
                raise UsageError(f"argument --policy: no policy is called `{glob}`{did_you_mean(glob, names)}")


def _is_called(policy: Policy, globs: Iterable[str]) -> bool:
    return any(fnmatchcase(policy.name, glob) for glob in globs)
