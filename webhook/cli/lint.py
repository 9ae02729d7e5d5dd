"""`cozyguard lint`: what policies get wrong whatever objects come."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from webhook.cli import terminal
from webhook.cli.options import Arguments, Parser, one_of, release
from webhook.cluster.faults import Unreachable
from webhook.model.diagnosis import Level
from webhook.model.lint import Linted
from webhook.report.lint import write
from webhook.report.style import Style
from webhook.report.summary import ExitCode
from webhook.runs import loading
from webhook.runs.lint.examine import CHECKS, lint
from webhook.runs.selection import Selection
from webhook.sources import schemas
from webhook.sources.schemas import Given

_EXAMPLES: Final = (
    ("cozyguard lint", "look at the bundled policies"),
    ("cozyguard lint policies/", "look at your own"),
    ("cozyguard lint policies/ --schemas=crds.yaml", "know the fields of your own kinds, too"),
    ("cozyguard lint policies/ --kubeconfig ~/.kube/config", "know those of a cluster"),
    ("cozyguard lint policies/ --fail-on warning -o github", "be strict, in CI"),
)


def parser() -> Parser:
    """Describe the flags."""
    made = Parser("lint", "Find what policies get wrong whatever objects come.", _EXAMPLES)
    made.option(
        "paths", nargs="*", default=[], metavar="PATH", help="files and folders (default: the bundled policies)"
    )
    made.repeatable("--policy", metavar="GLOB", help="look only at the policies with such a name")
    made.repeatable("--skip", metavar="GLOB", help="leave out the policies with such a name")
    made.optional_value("--schemas", metavar="[=PATH]", help="know kinds that do not ship, from CRDs or OpenAPI v3")
    made.option("--kubeconfig", type=Path, metavar="FILE", help="know the kinds of this cluster, too")
    made.option("--context", metavar="NAME", default="", help="the kubeconfig's context (default: its current one)")
    made.option(
        "--kubernetes-version", type=release, metavar="VERSION", help="tell what an older Kubernetes does not have"
    )
    made.option("--fail-on", type=one_of("warning", "remark"), metavar="LEVEL", help="exit with 1 for these, too")
    formats = ("text", "json", "sarif", "github")
    made.option("-o", "--output", type=one_of(*formats), metavar="FORMAT", default="text", help=", ".join(formats))
    terminal.add_colour(made)
    return made


def run(argv: Sequence[str]) -> int:
    """Lint, report, and answer with the exit code."""
    started = time.perf_counter()
    arguments = parser().parse(argv, os.environ)
    try:
        found = _linted(arguments)
    except Unreachable as error:
        terminal.fail(error)
        return ExitCode.UNREACHABLE
    terminal.tell(found.faults, "policy error")
    terminal.tell(found.remarks, "note")
    style = Style(terminal.colour(arguments.color, sys.stdout))
    write(arguments.output, found, CHECKS, time.perf_counter() - started, sys.stdout, style)
    return _code(found, arguments)


def _linted(arguments: Arguments) -> Linted:
    selection = Selection(policies=tuple(arguments.paths), only=tuple(arguments.policy), skipped=tuple(arguments.skip))
    compiled = loading.load_all(selection)
    if not compiled.errors:  # a policy that does not compile has no name here
        selection.check([one.policy.name for one in compiled.policies])
    chosen = [one for one in compiled.policies if selection.takes(one.policy) and not one.policy.generated_for]
    return lint(chosen, compiled.errors, _given(arguments), arguments.kubernetes_version)


def _given(arguments: Arguments) -> Given:
    """Read the schemas that do not ship: files say more than a cluster."""
    given = schemas.read(filter(None, arguments.schemas or ()))
    if arguments.kubeconfig is None:
        return given
    from webhook.cluster import schemas as of_cluster  # here: most runs ask no cluster
    from webhook.cluster.access import Access

    return of_cluster.read(Access(arguments.kubeconfig, arguments.context)) | given


def _code(found: Linted, arguments: Arguments) -> ExitCode:
    if found.faults:
        return ExitCode.FAULTY
    floor = Level(arguments.fail_on) if arguments.fail_on else Level.ERROR
    return ExitCode.DENIED if any(found.levels[level] for level in Level if level.rank <= floor.rank) else ExitCode.OK
