"""The commands: flags → a request → a run → a report → an exit code. One file a command."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Final, Protocol

from webhook import __version__
from webhook.cli import terminal
from webhook.cli.options import Parser
from webhook.errors import CozyguardError, UsageError, did_you_mean
from webhook.report.summary import ExitCode

COMMANDS: Final = {
    "check": "judge manifests as the cluster would, before it does",
    "audit": "judge what a live cluster holds, as if it were applied now",
    "replay": "judge requests that were recorded, by these policies or others",
    "test": "run policy tests",
    "lint": "find what policies get wrong whatever objects come",
    "explain": "tell policies and decisions in words",
    "playground": "try a policy on an object, on a page of this machine",
    "export vap": "write policies as Kubernetes' own kinds",
    "serve": "answer admission reviews over HTTPS",
    "doctor": "find what can lock a cluster out: webhooks, certificates, replicas",
    "catalog build": "read what a Cozystack release has from its source tree",
    "catalog diff": "tell what changes from one release to another",
}
"""Each is a module of this package, imported only when it is asked for."""


class Command(Protocol):
    """What the module of a command offers."""

    def parser(self) -> Parser:
        """Describe the flags."""

    def run(self, argv: Sequence[str]) -> int:
        """Carry the command out; the result is the exit code."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line. Bad input of any kind ends in a message on stderr, never in a traceback."""
    _open_streams()
    try:
        code = _main(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()  # here, where it can fail in words
        return code
    except CozyguardError as error:
        terminal.fail(error)
        return ExitCode.FAULTY
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        _drop_output()
        return ExitCode.BROKEN_PIPE
    except OSError as error:
        _drop_output()
        terminal.say(f"error: {error.filename or 'output'}: {(error.strerror or str(error)).lower()}")
        return ExitCode.FAULTY


def _open_streams() -> None:
    """Let what the caller has closed (`>&-`) lead to nothing: Python has None there, and the next file its number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - for good


def _drop_output() -> None:
    """Let the interpreter flush into nothing at exit, where it would complain of what we know already.

    https://docs.python.org/3/library/signal.html#note-on-sigpipe
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _main(argv: list[str]) -> int:
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    match argv:
        case [] | ["-h" | "--help" | "help"]:
            print(_help(), end="")
            return ExitCode.OK if argv else ExitCode.FAULTY
        case ["--version" | "version"]:
            print(f"cozyguard {__version__}")
            return ExitCode.OK
        case [name, *rest] if name in COMMANDS:
            return load(name).run(rest)
        case [group, name, *rest] if f"{group} {name}" in COMMANDS:
            return load(f"{group} {name}").run(rest)
        case [group] | [group, "-h" | "--help"] if _group(group):
            print(_help(group), end="")
            return ExitCode.OK if argv[1:] else ExitCode.FAULTY
    kind = "flag" if argv[0].startswith("-") else "command"
    word = " ".join(argv[:2]) if _group(argv[0]) else argv[0]
    raise UsageError(f"unknown {kind} `{word}`{did_you_mean(word, COMMANDS)}\nsee `cozyguard --help`")


def load(name: str) -> Command:
    """Import the module of a command."""
    command: Command = importlib.import_module(f"webhook.cli.{name.replace(' ', '_')}")
    return command


def _group(word: str) -> dict[str, str]:
    """Give the commands that begin with a word, of which there are several."""
    return {name: summary for name, summary in COMMANDS.items() if name.startswith(f"{word} ")}


def _help(group: str = "") -> str:
    listed = _group(group) or COMMANDS
    width = max(map(len, listed))
    commands = "\n".join(f"  {name:<{width}}  {summary}" for name, summary in listed.items())
    return f"""usage: cozyguard COMMAND [flags]

Policy as code for Cozystack clusters: what is wrong, where, why, and the way out.

commands:
{commands}

`cozyguard COMMAND --help` tells the flags of a command, `cozyguard --version` the version.
"""
