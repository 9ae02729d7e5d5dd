"""`cozyguard test`: run policy tests."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from webhook.cli import measured, terminal
from webhook.cli.measured import Measures
from webhook.cli.options import Arguments, Parser, one_of, positive
from webhook.cli.watch import watch
from webhook.errors import CozyguardError, UsageError
from webhook.model.coverage import Reached
from webhook.model.suite import Suite
from webhook.report.github import GithubSuites
from webhook.report.junit import JunitSuites
from webhook.report.style import Style
from webhook.report.suite import SuiteReport, SuitesReport
from webhook.report.suite_json import JsonSuites
from webhook.report.summary import ExitCode
from webhook.runs import coverage
from webhook.runs.coverage import MeasuredResult
from webhook.runs.spread import spread
from webhook.runs.suite import choose
from webhook.runs.suite import run as run_suite
from webhook.sources import suites
from webhook.sources.bundled import bundled
from webhook.sources.suites import LoadedSuites

_EXAMPLES: Final = (
    ("cozyguard test", "test the bundled policies"),
    ("cozyguard test policies/", "test all policies of a folder"),
    ("cozyguard test policies/gpu/my-policy/tests.yaml", "run one suite"),
)

_FEW: Final = 8
"""Suites that one process is done with before another has started."""


def parser() -> Parser:
    """Describe the flags."""
    made = Parser(
        "test", "Run policy tests: documents of kind PolicyTest, kyverno-test.yaml, and suites of gator.", _EXAMPLES
    )
    made.option("paths", nargs="*", metavar="PATH", help="suites, or folders of them (default: the bundled ones)")
    formats = "text, json, junit or github"
    made.option("-o", "--output", type=one_of(*_REPORTS), metavar="FORMAT", default="text", help=formats)
    made.option("--run", metavar="PATTERN", help="only cases with this in their name, or with a `/regular expression/`")
    made.option(
        "--jobs", type=positive, metavar="N", help="processes (default: one per CPU where there is enough to do)"
    )
    made.switch("--watch", help="run again whenever a file has changed")
    made.switch("--update", help="write messages, patches and other values that a case expects anew, as they are now")
    measured.add_options(made)
    terminal.add_colour(made)
    return made


def _text(arguments: Arguments) -> SuitesReport:
    return SuiteReport(sys.stdout, Style(terminal.colour(arguments.color, sys.stdout)))


_REPORTS: Final[dict[str, Callable[[Arguments], SuitesReport]]] = {
    "text": _text,
    "json": lambda _: JsonSuites(sys.stdout),
    "junit": lambda _: JunitSuites(sys.stdout),
    "github": lambda _: GithubSuites(sys.stdout),
}


def run(argv: Sequence[str]) -> int:
    """Run every suite, report, and answer with the exit code."""
    arguments = parser().parse(argv, os.environ)
    if arguments.fail_under is not None and not (arguments.coverage or arguments.coverage_html or arguments.mutants):
        raise UsageError("`--fail-under` is about `--coverage` or `--mutants`, and neither is given")
    if arguments.update:
        if arguments.watch or not arguments.paths:
            raise UsageError("`--update` writes suites anew, once: name them, and leave out `--watch`")
        _update(arguments)
    if arguments.watch:
        watch(lambda: _again(arguments))
    return _run(arguments, suites.load(arguments.paths or [bundled()]))


def _update(arguments: Arguments) -> None:
    """Write anew what no longer holds; what is left is told by the run that follows."""
    from webhook.runs.golden import update  # here: few runs write
    from webhook.runs.rewrite import rewrite

    loaded = suites.load(arguments.paths)
    chosen = choose(loaded.suites, arguments.run) if arguments.run else loaded.suites
    updated = update(map(run_suite, chosen))
    for file, data in updated.contents.items():
        rewrite(file, data)
    terminal.tell(updated.made, "updated")
    terminal.tell(updated.refused, "not updated")


def _again(arguments: Arguments) -> list[str]:
    """Run once, and answer with all files and folders that the run depends on."""
    loaded = suites.load(arguments.paths or [bundled()])
    try:
        _run(arguments, loaded)
    except CozyguardError as error:
        terminal.fail(error)
    terminal.say("waiting for changes; Ctrl-C ends it")
    sys.stdout.flush()
    folders = (str(Path(suite.file).parent) for suite in loaded.suites)
    places = (policies for suite in loaded.suites for policies in suite.policies)
    return list(dict.fromkeys([*map(str, arguments.paths or [bundled()]), *folders, *places]))


def _run(arguments: Arguments, loaded: LoadedSuites) -> ExitCode:
    started = time.perf_counter()
    terminal.tell(loaded.errors, "error")
    chosen = choose(loaded.suites, arguments.run) if arguments.run else loaded.suites
    report = _REPORTS[arguments.output](arguments)
    jobs = arguments.jobs or min(os.cpu_count() or 1, -(-len(chosen) // _FEW))
    covering = bool(arguments.coverage or arguments.coverage_html)
    passed, reached = _test(chosen, coverage.run if covering else _unmeasured, jobs, report)
    measures, codes = Measures(arguments, report), [ExitCode.OK]
    if covering:
        codes.append(measures.cover(chosen, reached))
    if arguments.mutants and passed:
        codes.append(measures.mutate(chosen, jobs))
    if arguments.fuzz:
        codes.append(measures.fuzz(chosen, jobs))
    if arguments.mutants and not passed:
        terminal.say("error: mutants are made of policies whose cases all pass")
    return max(report.end(tuple(loaded.errors), time.perf_counter() - started), *codes)


def _test(
    chosen: Sequence[Suite], work: Callable[[Suite], MeasuredResult], jobs: int, report: SuitesReport
) -> tuple[bool, set[Reached]]:
    """Run the suites; says whether all is well, and what was reached."""
    passed, reached = True, set[Reached]()
    with terminal.Progress("tested", "suites") as progress:
        for number, one in enumerate(spread(lambda: chosen, lambda suite: [work(suite)], jobs), 1):
            progress.clear()
            terminal.tell(one.result.errors, "policy error")
            report.add(one.result)
            passed = passed and not (one.result.errors or any(case.differences for case in one.result.results))
            reached |= one.reached
            progress.show(number)
    return passed, reached


def _unmeasured(suite: Suite) -> MeasuredResult:
    return MeasuredResult(run_suite(suite), frozenset())
