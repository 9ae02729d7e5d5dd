"""`cozyguard check --fix`: mend, say what was mended, and write it, or show it as a diff."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable, Iterator
from io import StringIO

from webhook.cli import terminal
from webhook.cli.options import Arguments, Parser
from webhook.errors import DocumentError, UsageError
from webhook.model.request import DELETE
from webhook.report.text import fix_words
from webhook.runs.baseline import Baseline
from webhook.runs.fix import Fix, mend
from webhook.runs.rewrite import rewrite
from webhook.runs.scan import Prepared, ScanRequest
from webhook.sources.files import STDIN
from webhook.sources.manifests import STDIN_NAME

_CONTEXT = 3
"""Lines around a change, as everywhere."""


def add_fix(parser: Parser) -> None:
    """Offer to mend."""
    parser.switch("--fix", help="write the fixes that are mechanical into the files; what is left is reported")
    parser.switch("--diff", help="with --fix: show what would change, and write nothing")


def check_fix(arguments: Arguments) -> None:
    """Refuse what does not go together. Raises UsageError."""
    if arguments.diff and not arguments.fix:
        raise UsageError("`--diff` shows what `--fix` would write: give both")
    for name in ("after", "write_baseline"):
        if arguments.fix and getattr(arguments, name):
            flag = {"after": "--to"}.get(name, "--write-baseline")
            raise UsageError(f"`--fix` does not go with `{flag}`")
    if arguments.fix and arguments.operation == DELETE:
        raise UsageError("`--fix` mends objects that are to be written: it does not go with `--operation DELETE`")


def takes_stdout(arguments: Arguments) -> bool:
    """Does standard output carry a document or a diff, so that results have to go to standard error."""
    return bool(arguments.fix and (arguments.diff or STDIN in arguments.paths))


def fix(request: ScanRequest, baseline: Baseline, arguments: Arguments) -> tuple[Prepared, int]:
    """Mend; gives the run that judges what is left, and how many fixes were made. Raises UsageError."""
    prepared, mended = mend(request, baseline)
    for file, data in mended.contents.items():
        fixes = [one for one in mended.fixes if one.result.source.file == file and not one.refused]
        if arguments.diff:
            sys.stdout.writelines(_difference(file, mended.before[file], data, fixes))
        elif file == STDIN_NAME:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        else:
            rewrite(file, data)
        _tell(fixes, "would fix" if arguments.diff else "fixed")
    _tell((one for one in mended.fixes if one.refused), "not fixed")
    return prepared, sum(not one.refused for one in mended.fixes)


def _tell(fixes: Iterable[Fix], label: str) -> None:
    for one in fixes:
        source, name = one.result.source, one.result.finding.policy.name
        message = ": ".join(filter(None, (f"{fix_words(one.result.finding)} [{name}]", one.refused)))
        terminal.tell([DocumentError(source.file, source.line, source.column, message=message)], label)


def _difference(file: str, before: bytes, after: bytes, fixes: Iterable[Fix]) -> Iterator[str]:
    """Write a unified diff, without what must not be shown."""
    if any(map(_hidden, fixes)):
        terminal.tell([DocumentError(file, message="its diff is withheld: it could show a secret value")], "note")
        return
    context = 0 if b"Secret" in after else _CONTEXT
    old, new = (StringIO(each.decode(errors="replace")).readlines() for each in (before, after))
    for line in difflib.unified_diff(old, new, file, file, n=context):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _hidden(one: Fix) -> bool:
    return one.result.source.excerpt is None or bool(one.result.finding.policy.sensitive_fields)
