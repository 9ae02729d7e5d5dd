"""`cozyguard catalog build`: read a release's catalogue entry from Cozystack's source tree."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from webhook.cli import terminal
from webhook.cli.options import Arguments, Parser, release
from webhook.errors import DocumentError, UsageError
from webhook.model.release import Minor
from webhook.report.catalog import entry_lines
from webhook.report.summary import ExitCode
from webhook.sources.checkout import Checkout
from webhook.sources.upstream.entry import build

_EXAMPLES: Final = (
    ("cozyguard catalog build --from ../cozystack --ref v1.6.2", "read the entry of a tag"),
    ("cozyguard catalog build --from ../cozystack --ref main --release 1.7", "read what is to become 1.7"),
)


def parser() -> Parser:
    """Describe the flags."""
    made = Parser("catalog build", "Read a release's catalogue entry from Cozystack's source tree.", _EXAMPLES)
    made.option("--from", dest="checkout", metavar="FOLDER", help="a git repository of cozystack, bare or not")
    made.option("--ref", metavar="REF", help="the tag, branch or commit to read; the work tree is not looked at")
    made.option("--release", type=release, metavar="VERSION", help="the release it is (default: what the tag says)")
    return made


def run(argv: Sequence[str]) -> int:
    """Write the entry; what could not be read is told, and makes the exit code 2."""
    arguments = parser().parse(argv, os.environ)
    if not arguments.checkout or not arguments.ref:
        raise UsageError("nothing to read: give a repository of cozystack with `--from` and a tag with `--ref`")
    minor = _release(arguments)
    entry = build(Checkout(arguments.checkout, arguments.ref), minor)
    for line in entry_lines(entry.facts):
        print(line)
    terminal.tell((DocumentError(fact, message=reason) for fact, reason in entry.not_read.items()), "not read")
    return ExitCode.FAULTY if entry.not_read else ExitCode.OK


def _release(arguments: Arguments) -> Minor:
    try:
        return arguments.release or Minor.parse(arguments.ref)
    except ValueError:
        raise UsageError(f"`{arguments.ref}` does not tell a release: give it with `--release`") from None
