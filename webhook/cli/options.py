"""Flags: a parser whose errors help, and the options that commands share.

Every option can also be given as an environment variable: `--cluster-state` is `COZYGUARD_CLUSTER_STATE`.
A flag wins over its variable. In the variable of a flag that may be repeated, values are separated as in PATH.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NoReturn

from webhook.errors import UsageError, did_you_mean
from webhook.model.policy import Severity
from webhook.model.release import Minor
from webhook.runs.selection import Selection

Arguments = argparse.Namespace

PREFIX: Final = "COZYGUARD_"

RELEASE_HELP: Final = (
    "the Cozystack release, such as 1.6 (default: the configuration's, else what the cluster state says, "
    "else the newest known)"
)


class Parser(argparse.ArgumentParser):
    """The flags of one command. `options` are its arguments in the order in which they were added."""

    def __init__(self, name: str, description: str, examples: Sequence[tuple[str, str]]) -> None:
        """Describe a command; each example is a command line and what it does."""
        self.name = name
        self.examples = examples
        self.options: list[argparse.Action] = []
        self._preset: dict[str, Any] = {}
        self._optional: set[str] = set()
        lines = "\n".join(f"  {what}:\n    {line}" for line, what in examples)
        super().__init__(
            prog=f"cozyguard {name}",
            description=description,
            epilog=f"examples:\n{lines}\n\nEvery flag is also a variable: --some-flag is {PREFIX}SOME_FLAG.",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    def option(self, *names: str, default: Any = None, **settings: Any) -> None:
        """Add a flag or an argument; the settings are argparse's."""
        option = self.add_argument(*names, default=argparse.SUPPRESS, **settings)
        self.options.append(option)
        self._preset[option.dest] = default

    def repeatable(self, *names: str, help: str, **settings: Any) -> None:  # noqa: A002 - argparse's word
        """Add a flag whose values add up to a list."""
        self.option(*names, action="append", default=[], help=f"{help}; repeatable", **settings)

    def optional_value(self, name: str, *, help: str, **settings: Any) -> None:  # noqa: A002 - argparse's word
        """Add a flag that is on by its name alone, and takes values behind `=`; what follows it is never its value.

        The result is None where it is not given, else a list, in which the name alone is "", as is `true` in its
        variable.
        """
        self.option(name, action="append", help=f"{help}; repeatable", **settings)
        self._optional.add(name)

    def switch(self, name: str, *, help: str) -> None:  # noqa: A002 - argparse's word
        """Add a flag without a value."""
        self.option(name, action="store_true", default=False, help=help)

    def parse(self, argv: Sequence[str], environ: Mapping[str, str]) -> Arguments:
        """Read a command line, then the environment for what it leaves out.

        Raises UsageError for what cannot be used, and SystemExit(0) after `--help`.
        """
        given, unknown = self.parse_known_intermixed_args(
            [f"{word}=" if word in self._optional else word for word in argv]
        )
        flags = [flag for option in self.options for flag in option.option_strings]
        for word in unknown:
            what = "flag" if word.startswith("-") else "argument"
            self.error(f"unknown {what} `{word}`{did_you_mean(word.partition('=')[0], flags)}")
        return Arguments(**{**self._preset, **self._variables(environ), **vars(given)})

    def error(self, message: str) -> NoReturn:
        """Raise instead of leaving the program."""
        raise UsageError(f"{message}\nsee `{self.prog} --help`")

    def _variables(self, environ: Mapping[str, str]) -> dict[str, Any]:
        names = {variable(option): option for option in self.options}
        return {
            option.dest: self._from_variable(option, environ[name])
            for name, option in names.items()
            if environ.get(name)
        }

    def _from_variable(self, option: argparse.Action, text: str) -> Any:
        convert = option.type if callable(option.type) else str
        try:
            if option.nargs == 0:
                return truth(text)
            if self._optional.intersection(option.option_strings):
                return ["" if part == "true" else convert(part) for part in _parts(text)]
            if isinstance(self._preset[option.dest], list):
                return [convert(part) for part in _parts(text) if part]
            return convert(text)
        except argparse.ArgumentTypeError as error:
            self.error(f"{variable(option)}: {error}")


def _parts(text: str) -> list[str]:
    """Split what a variable lists: at colons, as PATH is, or at blanks where something is fetched: URLs have colons."""
    return text.split() if any(mark in text for mark in ("git::", "://")) else text.split(os.pathsep)


def variable(option: argparse.Action) -> str:
    """Name the environment variable of a flag; "" for an argument, which has none."""
    names = [name for name in option.option_strings if name.startswith("--")]
    return PREFIX + names[0][2:].replace("-", "_").upper() if names else ""


def one_of(*words: str) -> Callable[[str], str]:
    """Make a type that accepts these words."""

    def convert(text: str) -> str:
        if text not in words:
            raise argparse.ArgumentTypeError(f"got `{text}`, want {_or(words)}{did_you_mean(text, words)}")
        return text

    return convert


def _or(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


def truth(text: str) -> bool:
    """Read the value of a flag's variable that is on or off."""
    return one_of("true", "false")(text.lower()) == "true"


def positive(text: str) -> int:
    """Read a number from 1 up."""
    if not text.isascii() or not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"got `{text}`, want a whole number from 1 up")
    return int(text)


def percentage(text: str) -> int:
    """Read a share in percent."""
    if not text.isascii() or not text.isdigit() or int(text) > 100:
        raise argparse.ArgumentTypeError(f"got `{text}`, want a whole number from 0 to 100")
    return int(text)


def add_policy_options(parser: Parser) -> None:
    """Offer the choice of policies."""
    parser.repeatable("--policies", metavar="PATH", help="policies to use in place of the bundled ones")
    parser.repeatable("--add-policies", metavar="PATH", help="policies to add")
    parser.repeatable("--policy", metavar="GLOB", help="use only the policies with such a name")
    parser.repeatable("--skip", metavar="GLOB", help="leave out the policies with such a name")
    parser.option(
        "--severity",
        type=lambda text: Severity(one_of(*Severity)(text)),
        metavar="FLOOR",
        help="leave out what is less severe: low, medium, high or critical",
    )
    parser.option("--config", metavar="FILE", help="modes, exemptions and exceptions")


def add_release(parser: Parser) -> None:
    """Offer the choice of the Cozystack release."""
    parser.option(
        "--release",
        type=release,
        metavar="VERSION",
        help=RELEASE_HELP,
    )


def release(text: str) -> Minor:
    """Read a release."""
    try:
        return Minor.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def selection(arguments: Arguments) -> Selection:
    """Take the choice of policies from the flags."""
    return Selection(
        policies=tuple(arguments.policies),
        added=tuple(arguments.add_policies),
        only=tuple(arguments.policy),
        skipped=tuple(arguments.skip),
        severity=arguments.severity,
    )
