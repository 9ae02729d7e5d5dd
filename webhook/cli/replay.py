"""`cozyguard replay`: judge requests that were recorded, by these policies or others."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from webhook.admission.synthesize import Circumstances
from webhook.cli import terminal
from webhook.cli.options import (
    Arguments,
    Parser,
    add_policy_options,
    add_release,
    one_of,
    positive,
    release,
    selection,
)
from webhook.errors import DocumentError, UsageError
from webhook.model.decision import Outcome
from webhook.model.preview import Previewed
from webhook.model.recorded import Recorded
from webhook.model.result import Checked, Setup
from webhook.report import Report
from webhook.report.json import JsonReport
from webhook.report.preview import FAIL_ON, Counts, JsonPreview, PreviewReport, TextPreview
from webhook.report.style import Style
from webhook.report.summary import ExitCode, Summary
from webhook.report.text import TextReport, count
from webhook.runs.preview import upgraded
from webhook.runs.replay import Repeats, compare, judge
from webhook.runs.scan import Prepared, ScanRequest, prepare
from webhook.runs.selection import Selection
from webhook.sources.files import Skipped
from webhook.sources.recordings import Recordings

_EXAMPLES: Final = (
    ("cozyguard replay reviews.jsonl", "judge what `cozyguard serve --record` has recorded"),
    ("cozyguard replay /var/log/kube-apiserver/audit.log", "judge what the API server has logged"),
    ("cozyguard replay reviews.jsonl --against next/", "tell who would be denied or allowed by other policies"),
    ("cozyguard replay reviews.jsonl --to 1.7", "tell what an upgrade would have changed"),
)

Item = TypeVar("Item", Checked, Previewed)


def parser() -> Parser:
    """Describe the flags."""
    made = Parser("replay", "Judge requests that were recorded, by these policies or others.", _EXAMPLES)
    made.option(
        "paths",
        nargs="*",
        default=[],
        metavar="FILE",
        help="AdmissionReviews or audit events, a JSON document a line; `-` is standard input",
    )
    add_policy_options(made)
    add_release(made)
    made.repeatable("--against", metavar="PATH", help="tell only what these policies would change")
    made.option("--to", dest="after", type=release, metavar="VERSION", help="tell only what this release would change")
    made.option("--cluster-state", metavar="FILE", help="objects of the cluster; complete for the kinds in it")
    made.repeatable("--fail-on", type=one_of(*FAIL_ON), metavar="OUTCOME", help="exit with 1 for warn or skip, too")
    made.option(
        "--max-findings",
        type=positive,
        metavar="N",
        default=10_000,
        help="list so many at most, and count the others (default: 10000)",
    )
    made.option("-o", "--output", type=one_of("text", "json"), metavar="FORMAT", default="text", help="text or json")
    terminal.add_colour(made)
    return made


def run(argv: Sequence[str]) -> int:
    """Judge all that was recorded, report, and answer with the exit code."""
    started = time.perf_counter()
    arguments = parser().parse(argv, os.environ)
    if not arguments.paths:
        raise UsageError("nothing to replay: give files or `-` for standard input")
    before = prepare(_request(arguments, selection(arguments)))
    terminal.tell(before.setup.policy_errors, "policy error")
    terminal.tell(before.notices, "note")
    if arguments.against or arguments.after:
        return _compare(before, arguments, started)
    return _judge(before, arguments, started)


def _judge(prepared: Prepared, arguments: Arguments, started: float) -> ExitCode:
    """Tell what the policies say of each request."""
    kept, summary = Repeats[Checked](arguments.max_findings), Summary()
    report: Report = (
        JsonReport(sys.stdout) if arguments.output == "json" else TextReport(sys.stdout, _style(arguments), "request")
    )
    report.begin(prepared.setup)

    def take(recorded: Recorded) -> None:
        checked = judge(prepared, recorded)
        summary.add(checked)
        kept.add(checked)

    faults = _read(arguments, take)
    summary.add_faults((*prepared.setup.policy_errors, *faults))
    for checked in kept:
        report.add(checked)
    for fault in faults:
        report.add_fault(fault)
    report.end(summary, time.perf_counter() - started)
    _tell_left_out(kept)
    return summary.exit_code([Outcome(name) for name in arguments.fail_on])


def _compare(before: Prepared, arguments: Arguments, started: float) -> ExitCode:
    """Tell what other policies, or another release, would change."""
    after = before
    if arguments.against:
        chosen = replace(selection(arguments), policies=tuple(arguments.against), added=())
        after = prepare(_request(arguments, chosen))
        terminal.tell(after.setup.policy_errors, "policy error")
    if arguments.after:
        after = upgraded(after, arguments.after)
        terminal.tell(after.notices, "note")
    kept, counts = Repeats[Previewed](arguments.max_findings), Counts()
    sides = _sides(before, after, arguments)
    report: PreviewReport = (
        JsonPreview(sys.stdout, *sides)
        if arguments.output == "json"
        else TextPreview(sys.stdout, _style(arguments), *sides, "request")
    )

    def take(recorded: Recorded) -> None:
        previewed = compare(before, after, recorded)
        counts.add(previewed)
        kept.add(previewed)

    faults = _read(arguments, take)
    counts.faults += len(faults) + len({*before.setup.policy_errors, *after.setup.policy_errors})
    for previewed in kept:
        report.add(previewed)
    for fault in faults:
        report.add_fault(fault)
    report.end(counts, time.perf_counter() - started)
    _tell_left_out(kept)
    return counts.exit_code([FAIL_ON[name] for name in arguments.fail_on])


def _read(arguments: Arguments, take: Callable[[Recorded], None]) -> list[DocumentError]:
    """Hand out each request as it is read; gives what could not be read."""
    recordings, faults, requests = Recordings(), list[DocumentError](), 0
    with terminal.Progress("judged", "requests") as progress:
        for found in recordings.read(arguments.paths):
            match found:
                case Recorded():
                    take(found)
                    requests += 1
                    progress.show(requests)
                case Skipped():
                    terminal.tell([found.note], "note")
                case DocumentError():
                    terminal.tell([found], "input error")
                    faults.append(found)
    for reason, times in recordings.not_judged.most_common():
        terminal.say(f"note: {count(times, 'request')} not judged: {reason}")
    return faults


def _sides(before: Prepared, after: Prepared, arguments: Arguments) -> tuple[Setup, Setup]:
    """Name what is compared: two releases, or else the places that the policies are from."""
    if not arguments.against:
        return before.setup, after.setup
    names = (" ".join(arguments.policies) or "bundled", " ".join(arguments.against))
    return replace(before.setup, release=names[0]), replace(after.setup, release=names[1])


def _tell_left_out(kept: Repeats[Item]) -> None:
    if kept.left_out:
        terminal.say(f"note: counted and not listed: {count(kept.left_out, 'finding')}; raise `--max-findings`")


def _style(arguments: Arguments) -> Style:
    return Style(terminal.colour(arguments.color, sys.stdout))


def _request(arguments: Arguments, chosen: Selection) -> ScanRequest:
    return ScanRequest(
        paths=(),
        selection=chosen,
        circumstances=Circumstances(),
        release=arguments.release,
        configuration=arguments.config,
        cluster_state=arguments.cluster_state,
    )
