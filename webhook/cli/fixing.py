"""The flags of `cozyguard check --fix`: what they are, and what they go with. `fix` carries them out."""

from __future__ import annotations

from webhook.cli.options import Arguments, Parser
from webhook.errors import UsageError
from webhook.model.request import DELETE
from webhook.sources.files import STDIN


def add_fix(parser: Parser) -> None:
    """Offer to mend."""
    parser.switch("--fix", help="write the fixes that are mechanical into the files; what is left is reported")
    parser.switch("--diff", help="with --fix: show what would change, and write nothing")


def check_fix(arguments: Arguments) -> None:
    """Refuse what does not go together. Raises UsageError."""
    if arguments.diff and not arguments.fix:
        raise UsageError("`--diff` shows what `--fix` would write: give both")
    for name, flag in (("after", "--to"), ("write_baseline", "--write-baseline")):
        if arguments.fix and getattr(arguments, name):
            raise UsageError(f"`--fix` does not go with `{flag}`")
    for name in ("kustomize", "helm"):
        if arguments.fix and getattr(arguments, name):
            raise UsageError(f"`--fix` does not go with `--{name}`: mend what it is rendered from")
    if arguments.fix and arguments.operation == DELETE:
        raise UsageError("`--fix` mends objects that are to be written: it does not go with `--operation DELETE`")


def takes_stdout(arguments: Arguments) -> bool:
    """Does standard output carry a document or a diff, so that results have to go to standard error."""
    return bool(arguments.fix and (arguments.diff or STDIN in arguments.paths))
