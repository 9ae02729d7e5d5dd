"""Output formats: they receive results and write text, nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from webhook.errors import DocumentError
    from webhook.model.result import Checked, Setup
    from webhook.report.summary import Summary


class Report(Protocol):
    """What every format of a run over objects does, in this order."""

    def begin(self, setup: Setup) -> None:
        """Take what the run works with."""

    def add(self, checked: Checked) -> None:
        """Take one object."""

    def add_fault(self, fault: DocumentError) -> None:
        """Take one fault of the input."""

    def end(self, summary: Summary, seconds: float) -> None:
        """Take the counts, and be done."""
