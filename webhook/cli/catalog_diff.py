"""`cozyguard catalog diff`: what changes from one release to another."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from webhook.cli.options import Parser, one_of
from webhook.errors import UsageError
from webhook.model.release import Minor, Release
from webhook.report.catalog import difference_json, difference_text
from webhook.report.plain import visible
from webhook.report.summary import ExitCode
from webhook.runs.compare import changes
from webhook.sources import catalog

_EXAMPLES: Final = (
    ("cozyguard catalog diff 1.5 1.6", "tell what a release brought"),
    ("cozyguard catalog diff 1.6 new.yaml -o json", "compare with an entry that was just built"),
)


def parser() -> Parser:
    """Describe the flags."""
    made = Parser("catalog diff", "Tell what changes from one catalogue entry to another.", _EXAMPLES)
    made.option("before", metavar="A", help="a release, or a file that `cozyguard catalog build` wrote")
    made.option("after", metavar="B", help="another one")
    made.option("-o", "--output", type=one_of("text", "json"), metavar="FORMAT", default="text", help="text or json")
    return made


def run(argv: Sequence[str]) -> int:
    """Write the difference; whether there is any does not change the exit code."""
    arguments = parser().parse(argv, os.environ)
    before, after = _entry(arguments.before), _entry(arguments.after)
    edits = list(changes(before, after))
    if arguments.output == "json":
        print(difference_json(before, after, edits))
    else:
        for line in difference_text(before, after, edits):
            print(visible(line))
    return ExitCode.OK


def _entry(text: str) -> Release:
    """Take a file where there is one of that name, else the catalogue's own entry."""
    if Path(text).is_file():
        return catalog.read(Path(text))
    try:
        return catalog.load(Minor.parse(text))
    except ValueError:
        raise UsageError(f"got `{text}`, want a release such as `1.6`, or the file of an entry") from None
