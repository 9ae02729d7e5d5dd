"""`cozyguard doctor`: can admission webhooks lock the cluster out, and do their certificates and replicas hold."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from webhook.cli import terminal
from webhook.cli.options import Arguments, Parser, one_of
from webhook.errors import UsageError
from webhook.model.diagnosis import Level
from webhook.report.doctor import diagnosis_lines, document, summary_line
from webhook.report.style import Style
from webhook.report.summary import ExitCode
from webhook.runs.doctor.examine import Examination, examine, read_files

_EXAMPLES: Final = (
    ("helm template policy . | cozyguard doctor -", "examine what a chart registers"),
    ("cozyguard doctor webhooks.yaml --fail-on warning", "be strict, in CI"),
)


def parser() -> Parser:
    """Describe the flags."""
    made = Parser("doctor", "Can admission webhooks lock the cluster out, ours or other tools'.", _EXAMPLES)
    made.option("paths", nargs="*", metavar="PATH", help="files and folders; `-` is standard input")
    made.option("--fail-on", type=one_of("warning", "remark"), metavar="LEVEL", help="exit with 1 for these, too")
    made.option("-o", "--output", type=one_of("text", "json"), metavar="FORMAT", default="text", help="text or json")
    terminal.add_colour(made)
    return made


def run(argv: Sequence[str]) -> int:
    """Examine files; the exit code tells whether there is an error, or what `--fail-on` names."""
    started = time.monotonic()
    arguments = parser().parse(argv, os.environ)
    found = _examination(arguments)
    if arguments.output == "json":
        print(json.dumps(document(found.webhooks, found.levels, found.diagnoses, found.faults), indent=1))
    else:
        _tell(found, arguments, time.monotonic() - started)
    return _code(found, arguments)


def _examination(arguments: Arguments) -> Examination:
    if not arguments.paths:
        raise UsageError("nothing to examine: give files, folders or `-` for standard input")
    inventory, faults = read_files(arguments.paths)
    found = examine(inventory, datetime.now(UTC))
    return Examination(found.webhooks, found.diagnoses, (*faults, *found.faults))


def _tell(found: Examination, arguments: Arguments, seconds: float) -> None:
    style = Style(terminal.colour(arguments.color, sys.stdout))
    terminal.tell(found.faults, "error")
    for one in found.diagnoses:
        print("\n".join(diagnosis_lines(one, style)))
    print(summary_line(found.webhooks, found.levels, seconds))


def _code(found: Examination, arguments: Arguments) -> ExitCode:
    if found.faults:
        return ExitCode.FAULTY
    floor = Level(arguments.fail_on) if arguments.fail_on else Level.ERROR
    return ExitCode.DENIED if any(one.level.rank <= floor.rank for one in found.diagnoses) else ExitCode.OK
