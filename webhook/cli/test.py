"""`cozyguard test`: run policy tests."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Final

from webhook.cli import terminal
from webhook.cli.options import Arguments, Parser, one_of
from webhook.report.github import GithubSuites
from webhook.report.junit import JunitSuites
from webhook.report.style import Style
from webhook.report.suite import SuiteReport, SuitesReport
from webhook.report.suite_json import JsonSuites
from webhook.runs.suite import run as run_suite
from webhook.sources import suites
from webhook.sources.bundled import bundled

_EXAMPLES: Final = (
    ("cozyguard test", "test the bundled policies"),
    ("cozyguard test policies/", "test all policies of a folder"),
    ("cozyguard test policies/gpu/my-policy/tests.yaml", "run one suite"),
)


def parser() -> Parser:
    """Describe the flags."""
    made = Parser("test", "Run policy tests: documents of kind PolicyTest.", _EXAMPLES)
    made.option("paths", nargs="*", metavar="PATH", help="suites, or folders of them (default: the bundled ones)")
    formats = "text, json, junit or github"
    made.option("-o", "--output", type=one_of(*_REPORTS), metavar="FORMAT", default="text", help=formats)
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
    started = time.perf_counter()
    arguments = parser().parse(argv, os.environ)
    loaded = suites.load(arguments.paths or [bundled()])
    terminal.tell(loaded.errors, "error")
    report = _REPORTS[arguments.output](arguments)
    with terminal.Progress("tested", "suites") as progress:
        for number, suite in enumerate(loaded.suites, 1):
            result = run_suite(suite)
            progress.clear()
            terminal.tell(result.errors, "policy error")
            report.add(result)
            progress.show(number)
    return report.end(tuple(loaded.errors), time.perf_counter() - started)
