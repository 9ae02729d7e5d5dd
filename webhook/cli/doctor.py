"""`cozyguard doctor`: can webhooks, ours or other tools', lock the cluster out; of a cluster, or of files."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from webhook.cli import terminal
from webhook.cli.options import Arguments, Parser, one_of
from webhook.cluster.faults import Unreachable
from webhook.model.diagnosis import Examination, Level
from webhook.report.doctor import document, lines, summary_line
from webhook.report.style import Style
from webhook.report.summary import ExitCode
from webhook.runs.doctor.examine import examine_files

_EXAMPLES: Final = (
    ("cozyguard doctor --kubeconfig ~/.kube/config", "examine a cluster, and cozyguard in it"),
    ("helm template policy . | cozyguard doctor -", "examine what a chart registers"),
    ("cozyguard doctor webhooks.yaml --fail-on warning", "be strict, in CI"),
)


def parser() -> Parser:
    """Describe the flags."""
    made = Parser(
        "doctor",
        "Find what can lock a cluster out: webhooks, their certificates, their replicas; ours or other tools'.",
        _EXAMPLES,
    )
    made.option("paths", nargs="*", metavar="PATH", help="files and folders; `-` is standard input; none: a cluster")
    made.option("--kubeconfig", type=Path, metavar="FILE", help="of the cluster (default: the pod's service account)")
    made.option("--context", metavar="NAME", default="", help="the kubeconfig's context (default: its current one)")
    made.option(
        "-n", "--namespace", metavar="NAME", default="", help="cozyguard's own (default: the one that is registered)"
    )
    made.option("--fail-on", type=one_of("warning", "remark"), metavar="LEVEL", help="exit with 1 for these, too")
    made.option("-o", "--output", type=one_of("text", "json"), metavar="FORMAT", default="text", help="text or json")
    terminal.add_colour(made)
    return made


def run(argv: Sequence[str]) -> int:
    """Examine files or a cluster; the exit code tells whether there is an error, or what `--fail-on` names."""
    started = time.monotonic()
    arguments = parser().parse(argv, os.environ)
    try:
        found = _examination(arguments)
    except Unreachable as error:
        terminal.fail(error)
        return ExitCode.UNREACHABLE
    _remark(found)
    if arguments.output == "json":
        print(json.dumps(document(found), indent=1))
    else:
        _tell(found, arguments, time.monotonic() - started)
    return _code(found, arguments)


def _examination(arguments: Arguments) -> Examination:
    now = datetime.now(UTC)
    if arguments.paths:
        return examine_files(arguments.paths, now)
    from webhook.cluster.access import Access  # here: who examines files needs no cluster
    from webhook.runs.doctor.live import examine_cluster

    access = Access(arguments.kubeconfig, arguments.context)
    return asyncio.run(examine_cluster(access, arguments.namespace, now))


def _remark(found: Examination) -> None:
    """Say what is no finding."""
    terminal.tell(found.faults, "input error")
    terminal.tell(found.passed_over, "note")
    for kind in found.unknown:
        terminal.say(f"note: may not read every {kind} that there is to see: what depends on it is not checked")
    if not found.webhooks:
        terminal.say("note: no webhooks are registered here")


def _tell(found: Examination, arguments: Arguments, seconds: float) -> None:
    style = Style(terminal.colour(arguments.color, sys.stdout))
    for line in lines(found, style):
        print(line)
    print(summary_line(found, seconds))


def _code(found: Examination, arguments: Arguments) -> ExitCode:
    if found.faults:
        return ExitCode.FAULTY
    floor = Level(arguments.fail_on) if arguments.fail_on else Level.ERROR
    return ExitCode.DENIED if any(one.level.rank <= floor.rank for one in found.diagnoses) else ExitCode.OK
