"""`test --coverage` and `test --mutants`: how much the suites are worth, besides whether they pass."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from webhook.cli import terminal
from webhook.cli.options import Arguments, Parser, percentage, positive
from webhook.engine.compile import CompiledPolicy
from webhook.errors import DocumentError
from webhook.model.coverage import Coverage, Reached
from webhook.model.explanation import Explanation
from webhook.model.fuzz import Fuzzed
from webhook.model.mutation import Mutation
from webhook.model.suite import Suite
from webhook.report import coverage as coverage_report
from webhook.report import coverage_html
from webhook.report import fuzz as fuzz_report
from webhook.report import mutation as mutation_report
from webhook.report.github import GithubSuites
from webhook.report.style import Style
from webhook.report.suite import SuitesReport
from webhook.report.suite_json import JsonSuites
from webhook.report.summary import ExitCode
from webhook.runs import coverage, mutation
from webhook.runs.spread import spread
from webhook.runs.suite import loaded
from webhook.sources import compiled


def add_options(parser: Parser) -> None:
    """Offer both measures and the threshold."""
    parser.switch("--coverage", help="tell what of the policies no case reaches")
    parser.option("--coverage-html", metavar="FILE", help="write the coverage as a page; implies --coverage")
    parser.switch("--mutants", help="change the policies, one slip at a time, and tell which slips no case notices")
    parser.option(
        "--fuzz",
        type=positive,
        metavar="N",
        help="try N more objects on each suite: its own, with fields dropped, nulled and changed as schemas allow",
    )
    parser.option("--seed", type=positive, metavar="N", default=1, help="with --fuzz: another seed, other objects")
    parser.option(
        "--fail-under",
        type=percentage,
        metavar="N",
        help="exit 1 when less than N percent are covered, or of the mutants killed or explained",
    )


@dataclass(frozen=True, slots=True)
class Measures:
    """Tells what was measured, beside the report of the suites."""

    arguments: Arguments
    report: SuitesReport

    def cover(self, suites: Sequence[Suite], reached: Iterable[Reached]) -> ExitCode:
        """Tell the coverage of the policies of these suites, and of those in the folders given that no suite has."""
        covered = Coverage(tuple(coverage.cover(self._policies(suites), frozenset(reached), suites)))
        if self.arguments.coverage_html:
            files = {one.policy.location.file for one in covered.policies}
            texts = {file: Path(file).read_text(encoding="utf-8", errors="replace") for file in files}
            Path(self.arguments.coverage_html).write_text(coverage_html.page(covered, texts), encoding="utf-8")
        want = self.arguments.fail_under
        if isinstance(self.report, JsonSuites):
            self.report.add_section("coverage", coverage_report.document(covered))
        else:
            self._write(coverage_report.lines(covered, self._style(), want))
        stale = [mark for one in covered.policies for mark in one.stale]
        said = "explains nothing that is not reached; leave it out, or name the outcome as `--coverage` does"
        return _refuse(stale, said) or _judge(covered.percent, want)

    def mutate(self, suites: Sequence[Suite], jobs: int) -> ExitCode:
        """Run mutants of the policies of these suites, and tell who survived."""
        started = time.perf_counter()
        subjects = mutation.subjects(suites)
        with terminal.Progress("changed", "policies") as progress:
            results: list[Mutation] = []
            for result in spread(lambda: subjects, lambda one: [mutation.mutate(one)], min(jobs, len(subjects))):
                results.append(result)
                progress.show(len(results))
        want = self.arguments.fail_under
        if isinstance(self.report, JsonSuites):
            self.report.add_section("mutants", mutation_report.document(results))
        else:
            seconds = time.perf_counter() - started
            self._write(mutation_report.lines(results, self._style(), seconds, want))
        stale = [mark for one in results for mark in one.stale]
        said = "explains no mutant that survives; leave it out, or name the change as `--mutants` does"
        return _refuse(stale, said) or _judge(mutation_report.share(results), want)

    def fuzz(self, suites: Sequence[Suite], jobs: int) -> ExitCode:
        """Try objects that nobody wrote, and tell which laws do not hold."""
        started, seed = time.perf_counter(), self.arguments.seed
        with terminal.Progress("tried", "suites") as progress:
            results: list[Fuzzed] = []
            for result in spread(lambda: suites, lambda one: [_fuzzed(one, self.arguments)], min(jobs, len(suites))):
                results.append(result)
                progress.show(len(results))
        seconds = time.perf_counter() - started
        if isinstance(self.report, JsonSuites):
            self.report.add_section("fuzz", fuzz_report.document(results, seed))
        elif isinstance(self.report, GithubSuites):
            self._write(fuzz_report.commands(results, seconds, seed))
        else:
            self._write(fuzz_report.lines(results, self._style(), seconds, seed))
        return ExitCode.DENIED if any(one.slips for one in results) else ExitCode.OK

    def _policies(self, suites: Sequence[Suite]) -> list[CompiledPolicy]:
        places = dict.fromkeys(suite.policies for suite in suites)
        folders = [path for path in map(Path, self.arguments.paths or ()) if path.is_dir()]
        found = [one for place in places for one in compiled.load(place).policies]
        found += compiled.load(folders).policies
        return list({coverage.identity(one.policy): one for one in found}.values())

    def _write(self, lines: Iterable[str]) -> None:
        """Write for people: on stdout, unless what is there is for a program."""
        out = sys.stderr if self.arguments.output == "junit" else sys.stdout
        for line in lines:
            print(line, file=out)

    def _style(self) -> Style:
        return Style(terminal.colour(self.arguments.color, sys.stdout) if self.arguments.output == "text" else False)


def _fuzzed(suite: Suite, arguments: Arguments) -> Fuzzed:
    from webhook.runs.fuzz.run import fuzz  # here: schemas are large, and few runs need them

    return fuzz(suite, loaded(suite), arguments.fuzz, arguments.seed)


def _judge(percent: float, want: int | None) -> ExitCode:
    return ExitCode.DENIED if want is not None and percent < want else ExitCode.OK


def _refuse(stale: Iterable[Explanation], message: str) -> ExitCode:
    """Tell of explanations that explain nothing: none is to outlive its reason."""
    errors = [DocumentError(at.file, at.line, at.column, at.path, message) for at in (mark.location for mark in stale)]
    terminal.tell(errors, "error")
    return ExitCode.FAULTY if errors else ExitCode.OK
