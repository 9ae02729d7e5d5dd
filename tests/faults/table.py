"""What became of the requests of a run, fault by fault: printed at its end, also when all is well."""

from __future__ import annotations

from typing import Final

import pytest

from tests.faults.load import Counts

_COUNTS: Final = pytest.StashKey[dict[str, Counts]]()
_HEADS: Final = ("fault", "requests", "right", "failed because of us", "wrongly admitted", "not taken", "slowest s")


def add(config: pytest.Config, fault: str, counts: Counts) -> None:
    """Have a line for this fault."""
    config.stash.setdefault(_COUNTS, {})[fault] = counts


def show(reporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the table, if there is anything in it."""
    if not (table := config.stash.get(_COUNTS, {})):
        return
    rows = [_HEADS, *(_row(fault, counts) for fault, counts in table.items())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    reporter.section("requests under faults")
    for name, *cells in rows:
        numbers = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
        reporter.line("  ".join((name.ljust(widths[0]), *numbers)))


def _row(fault: str, counts: Counts) -> tuple[str, ...]:
    numbers = (counts.all, counts.right, len(counts.failed), len(counts.admitted), len(counts.untaken))
    return (fault, *map(str, numbers), f"{counts.slowest:.2f}")
