"""`cozyguard check --from 1.6 --to 1.7`: only what an upgrade changes."""

from __future__ import annotations

import sys
import time
from typing import Final

from webhook.cli import terminal
from webhook.cli.options import Arguments
from webhook.errors import DocumentError, UsageError
from webhook.report.preview import FAIL_ON, Counts, JsonPreview, PreviewReport, TextPreview
from webhook.report.style import Style
from webhook.runs.preview import Compared, upgraded
from webhook.runs.preview import preview as differences
from webhook.runs.scan import ScanRequest, prepare
from webhook.sources.files import Skipped

_NOT_HERE: Final = ("baseline", "write_baseline", "show_passed")


def preview(request: ScanRequest, arguments: Arguments, started: float) -> int:
    """Judge for both releases, report what differs, and answer with the exit code."""
    for name in _NOT_HERE:
        if getattr(arguments, name):
            raise UsageError(f"`--{name.replace('_', '-')}` does not go with `--to`, which tells differences only")
    before = prepare(request)
    after = upgraded(before, arguments.after)
    terminal.tell(before.setup.policy_errors, "policy error")
    terminal.tell((*before.notices, *after.notices), "note")
    report: PreviewReport = (
        JsonPreview(sys.stdout, before.setup, after.setup)
        if arguments.output == "json"
        else TextPreview(sys.stdout, Style(terminal.colour(arguments.color, sys.stdout)), before.setup, after.setup)
    )
    counts = Counts()
    counts.faults += len(before.setup.policy_errors)
    with terminal.Progress("checked", "objects") as progress:
        for compared in differences(before, after):
            progress.clear()
            _take(compared, counts, report)
            progress.show(counts.resources)
    report.end(counts, time.perf_counter() - started)
    return counts.exit_code([FAIL_ON[name] for name in arguments.fail_on])


def _take(compared: Compared, counts: Counts, report: PreviewReport) -> None:
    """Count and report one thing that the run came upon."""
    match compared:
        case Skipped():
            terminal.tell([compared.note], "note")
        case DocumentError():
            terminal.tell([compared], "input error")
            counts.faults += 1
            report.add_fault(compared)
        case _:
            terminal.tell(compared.remarks, "note")
            counts.add(compared)
            report.add(compared)
