"""`cozyguard check --fix`: mend, say what was mended, and write it, or show it as a diff."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable, Iterator
from io import StringIO

from webhook.cli import terminal
from webhook.cli.options import Arguments
from webhook.errors import DocumentError
from webhook.report.text import fix_words
from webhook.runs.baseline import Baseline
from webhook.runs.fix import Fix, mend
from webhook.runs.rewrite import rewrite
from webhook.runs.scan import Prepared, ScanRequest
from webhook.sources.manifests import STDIN_NAME

_CONTEXT = 3
"""Lines around a change, as everywhere."""


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
