"""`docs/cli.md`, written from the parsers themselves, so that it cannot say anything else.

`make generate` writes it into a checkout.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from webhook.cli import COMMANDS, load
from webhook.cli.options import variable

_HEAD = """# Command line

Made by `make generate` from the program's own flags.

Every flag can also be given as the environment variable beside it; the flag wins. Values of a flag that may be
repeated are separated in its variable as in `PATH`. Results go to standard output, everything else to standard error.

| exit code | means |
| --- | --- |
| 0 | nothing denied; warnings, patches and rules that could not be checked do not count |
| 1 | something denied or in error, a test failed, or what `--fail-on` names |
| 2 | a flag, a policy or an input cannot be used; whatever can be checked still is |
"""


_TAIL = """## Findings that need not count

`cozyguard check` passes over a finding, and counts it as silenced, in four cases:

- An annotation of the object gives a reason for the policy, or for one rule of it. Entries are separated by `;`.

  ```yaml
  metadata:
    annotations:
      cozyguard.io/ignore: "package-variant-known=our own build; other-policy/some-rule=agreed with operations"
  ```

- A comment on the line that the finding points at, or alone above it, does.

  ```yaml
  spec:
    # cozyguard:ignore package-variant-known: our own build
    variant: homegrown
  ```

- A baseline lists it. `--write-baseline known.json` accepts all that is found now, `--baseline known.json` then lets
  only new findings count. An entry is a policy, a rule, an object and a field: neither words nor line numbers, so
  it stays valid when these change. Entries whose finding has gone are named, so that the file can be written anew.

- A `PolicyException` of `--config` lets the rule pass.

An annotation or comment without a reason is not honoured, and that is said. Of the four the webhook honours the last
alone: whoever may write an object could otherwise exempt themselves.
"""


def reference() -> str:
    """Write the whole page."""
    return "\n".join([_HEAD, *(line for name in COMMANDS for line in _command(name)), _TAIL])


def _command(name: str) -> Iterator[str]:
    parser = load(name).parser()
    yield f"## cozyguard {name}\n\n{parser.description}\n"
    yield "| flag | variable | |\n| --- | --- | --- |"
    for option in parser.options:
        yield f"| {_flag(option)} | {_code(variable(option))} | {option.help} |"
    yield ""
    for line, what in parser.examples:
        yield f"{what[0].upper()}{what[1:]}:\n\n```sh\n{line}\n```\n"


def _flag(option: argparse.Action) -> str:
    if not option.option_strings:
        return _code(f"{option.metavar}…" if option.nargs else str(option.metavar))
    value = "" if option.nargs == 0 else f" {option.metavar}"
    return ", ".join(_code(name + value) for name in option.option_strings)


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


if __name__ == "__main__":
    Path("docs/cli.md").write_text(reference(), encoding="utf-8")
