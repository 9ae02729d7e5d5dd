"""What an audit has found, on its way from the pipeline to the report."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, TextIO

from webhook.cli import terminal
from webhook.cli.audit import NOTHING
from webhook.cli.options import Arguments
from webhook.errors import DocumentError
from webhook.model.decision import Outcome
from webhook.model.preview import Previewed
from webhook.model.release import Release
from webhook.model.request import Object
from webhook.model.result import Checked
from webhook.report import Report
from webhook.report.audit_objects import FORMATS, Listing, report
from webhook.report.html import HtmlReport
from webhook.report.json import JsonReport
from webhook.report.junit import JunitReport
from webhook.report.preview import FAIL_ON, Counts, JsonPreview, PreviewReport, TextPreview
from webhook.report.style import Style
from webhook.report.summary import ExitCode, Summary
from webhook.report.tap import TapReport
from webhook.report.text import TextReport, count
from webhook.runs.audit.announce import Announcer
from webhook.runs.audit.findings import Kept, Unchecked
from webhook.runs.audit.judge import compare, judge
from webhook.runs.audit.prepare import Ready
from webhook.runs.audit.publish import Publisher
from webhook.runs.audit.targets import Target
from webhook.runs.audit.walk import Coverage
from webhook.runs.picture import pictured

REPORTS: Final[dict[str, Callable[[TextIO], Report]]] = {
    "json": partial(JsonReport, by_policy=True),
    "junit": JunitReport,
    "tap": TapReport,
    "html": HtmlReport,
}
"""Formats besides text: those of `check` that can tell of objects without a file."""


class Findings:
    """What policies say of the objects as they are."""

    def __init__(
        self,
        audit: Ready,
        arguments: Arguments,
        progress: terminal.Progress,
        publisher: Publisher | None,
        announcer: Announcer | None,
    ) -> None:
        """Nothing found so far; `publisher` keeps reports in the cluster, `announcer` writes Events."""
        self._audit, self._arguments, self._progress = audit, arguments, progress
        self._summary = Summary()
        self._kept: Kept[Checked] = Kept(arguments.max_findings)
        self._unchecked = Unchecked()
        self._publisher, self._announcer = publisher, announcer
        self._listing = Listing(arguments.max_findings) if arguments.output in FORMATS else None

    async def take(self, target: Target, objects: Sequence[Object]) -> list[Object]:
        """Judge some objects, count them all, keep what there is to say, and give those that it is about."""
        told = []
        for obj in objects:
            checked = await judge(self._audit, target, obj)
            self._summary.add(checked)
            if not checked.silent:
                told.append(obj)
                known = self._unchecked.take_from(self._pictured(target, obj, checked))
                self._kept.add(known, len(known.results) + len(known.patches))
                await self._report(target, obj, known)
                if self._announcer:
                    await self._announcer.announce(obj, known)
        self._progress.show(self._summary.resources)
        return told

    def _pictured(self, target: Target, obj: Object, checked: Checked) -> Checked:
        """Keep what a page shows of the object, which is gone when it is written."""
        if self._arguments.output != "html":
            return checked
        return pictured(obj, checked, (one.policy for one in target.policies.policies))

    def finish(self, coverage: Coverage, seconds: float) -> ExitCode:
        """Write everything, and judge the run."""
        summary = self._summary
        summary.resources += coverage.silent_before
        faults = _faults(self._audit, coverage)
        for one in (self._publisher, self._announcer):
            if one:
                faults += one.faults()
                terminal.say(one.words())
        summary.add_faults((*self._audit.setup.policy_errors, *faults))
        if self._listing:
            self._listing.write(sys.stdout)
        else:
            self._write(faults, seconds)
        _tell(coverage, faults, self._kept.left_out)
        outcomes = [Outcome(name) for name in self._arguments.fail_on if name != NOTHING]
        return _code(coverage, summary.exit_code(outcomes), self._arguments)

    async def _report(self, target: Target, obj: Object, checked: Checked) -> None:
        """Make the object's report, for the cluster and for the output."""
        part, now = target.resource.version if target.again else "", self._audit.context.now
        if self._publisher and (made := report(self._arguments.report, obj, checked, now, part)):
            await self._publisher.put(made)
        if self._listing and (made := report(self._arguments.output, obj, checked, now, part)):
            self._listing.add(made)

    def _write(self, faults: Iterable[DocumentError], seconds: float) -> None:
        made = REPORTS.get(self._arguments.output)
        out = made(sys.stdout) if made else TextReport(sys.stdout, _style(self._arguments))
        out.begin(self._audit.setup)
        for checked in (*self._kept, *self._unchecked):
            out.add(checked)
        for fault in faults:
            out.add_fault(fault)
        out.end(self._summary, seconds)


class Differences:
    """What an upgrade changes for the objects."""

    def __init__(self, audit: Ready, after: Release, arguments: Arguments, progress: terminal.Progress) -> None:
        """Nothing found so far."""
        self._audit, self._arguments, self._progress = audit, arguments, progress
        self._after = after
        self._counts = Counts()
        self._kept: Kept[Previewed] = Kept(arguments.max_findings)

    async def take(self, target: Target, objects: Sequence[Object]) -> list[Object]:
        """Judge some objects for both releases, count them all, keep what differs, and give those for which it does."""
        told = []
        for obj in objects:
            previewed = await compare(self._audit, self._after, target, obj)
            self._counts.add(previewed)
            self._kept.add(previewed, len(previewed.differences))
            if previewed.differences:
                told.append(obj)
        self._progress.show(self._counts.resources)
        return told

    def finish(self, coverage: Coverage, seconds: float) -> ExitCode:
        """Write everything, and judge the run."""
        counts, report = self._counts, self._report()
        counts.resources += coverage.silent_before
        faults = _faults(self._audit, coverage)
        counts.faults += len(self._audit.setup.policy_errors) + len(faults)
        for previewed in self._kept:
            report.add(previewed)
        for fault in faults:
            report.add_fault(fault)
        report.end(counts, seconds)
        _tell(coverage, faults, self._kept.left_out)
        turns = [FAIL_ON[name] for name in self._arguments.fail_on if name != NOTHING]
        return _code(coverage, counts.exit_code(turns), self._arguments)

    def _report(self) -> PreviewReport:
        before = self._audit.setup
        after = replace(before, release=str(self._after.version))
        if self._arguments.output == "json":
            return JsonPreview(sys.stdout, before, after)
        return TextPreview(sys.stdout, _style(self._arguments), before, after)


def _style(arguments: Arguments) -> Style:
    return Style(terminal.colour(arguments.color, sys.stdout))


def _faults(audit: Ready, coverage: Coverage) -> list[DocumentError]:
    """Collect what makes the answer incomplete."""
    cut = [DocumentError("audit", message="interrupted: what was looked at until then is told")]
    return [*audit.gaps, *sorted(coverage.gaps), *(cut if coverage.interrupted else ())]


def _tell(coverage: Coverage, faults: Iterable[DocumentError], left_out: int) -> None:
    terminal.tell(faults, "error")
    terminal.tell(coverage.notices, "note")
    if left_out:
        more = count(left_out, "more finding")
        terminal.say(f"note: {more} are counted and not listed: narrow it down, or raise `--max-findings`")


def _code(coverage: Coverage, code: ExitCode, arguments: Arguments) -> ExitCode:
    if coverage.interrupted:
        return ExitCode.INTERRUPTED
    if coverage.unreachable:
        return ExitCode.UNREACHABLE
    return ExitCode.OK if code is ExitCode.DENIED and NOTHING in arguments.fail_on else code
