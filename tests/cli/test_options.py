import os

import pytest

from webhook.cli import COMMANDS, load
from webhook.cli.options import Parser, one_of, positive, variable
from webhook.errors import UsageError


@pytest.fixture
def parser() -> Parser:
    made = Parser("try", "Try flags.", [("cozyguard try", "do nothing")])
    made.option("paths", nargs="*", metavar="PATH", help="what")
    made.option("--output", type=one_of("text", "json"), default="text", metavar="FORMAT", help="how")
    made.option("--jobs", type=positive, metavar="N", help="how many")
    made.repeatable("--policy", metavar="GLOB", help="which")
    made.switch("--all", help="more")
    return made


def test_what_nobody_says_is_the_default(parser: Parser) -> None:
    arguments = parser.parse([], {})

    assert vars(arguments) == {"paths": None, "output": "text", "jobs": None, "policy": [], "all": False}


def test_every_flag_can_be_a_variable(parser: Parser) -> None:
    environ = {
        "COZYGUARD_OUTPUT": "json",
        "COZYGUARD_JOBS": "3",
        "COZYGUARD_POLICY": os.pathsep.join(["a", "b"]),
        "COZYGUARD_ALL": "true",
        "COZYGUARD_UNKNOWN": "x",
    }

    arguments = parser.parse([], environ)

    assert (arguments.output, arguments.jobs, arguments.policy, arguments.all) == ("json", 3, ["a", "b"], True)


def test_files_and_flags_come_in_any_order(parser: Parser) -> None:
    arguments = parser.parse(["a.yaml", "--output", "json", "b.yaml", "--all", "c.yaml"], {})

    assert (arguments.paths, arguments.output, arguments.all) == (["a.yaml", "b.yaml", "c.yaml"], "json", True)


@pytest.mark.parametrize(
    "listed",
    [
        ["git::https://user@example.org:8443/policies.git//gpu?ref=0", "own"],
        ["own", "oci://registry.example.org:5000/policies@sha256:0"],
        ["git::ssh://git@example.org/policies?ref=0"],
        ["git::git@example.org:org/policies.git?ref=0"],
    ],
)
def test_what_is_fetched_has_colons_of_its_own(parser: Parser, listed: list[str]) -> None:
    assert parser.parse([], {"COZYGUARD_POLICY": " ".join(listed)}).policy == listed


def test_a_flag_wins_over_its_variable(parser: Parser) -> None:
    environ = {"COZYGUARD_OUTPUT": "json", "COZYGUARD_POLICY": "a"}

    arguments = parser.parse(["--output", "text", "--policy", "b", "--policy", "c"], environ)

    assert (arguments.output, arguments.policy) == ("text", ["b", "c"])


@pytest.mark.parametrize(
    ("argv", "environ", "message"),
    [
        (["--polcy", "x"], {}, "unknown flag `--polcy`; did you mean `--policy`?\nsee `cozyguard try --help`"),
        (["--jobs", "0"], {}, "argument --jobs: got `0`, want a whole number from 1 up"),
        (["--output", "jsn"], {}, "got `jsn`, want text or json; did you mean `json`?"),
        (["--output"], {}, "argument --output: expected one argument"),
        ([], {"COZYGUARD_JOBS": "many"}, "COZYGUARD_JOBS: got `many`, want a whole number from 1 up"),
        ([], {"COZYGUARD_ALL": "yes"}, "COZYGUARD_ALL: got `yes`, want true or false"),
        (["--out", "json"], {}, "unknown flag `--out`"),
    ],
)
def test_what_cannot_be_used_is_said_with_the_way_out(
    parser: Parser, argv: list[str], environ: dict[str, str], message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        parser.parse(argv, environ)

    assert message in str(caught.value)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_flag_of_every_command_has_words_and_a_variable(name: str) -> None:
    for option in load(name).parser().options:
        assert option.help
        assert not option.option_strings or variable(option).startswith("COZYGUARD_")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_example_of_a_command_can_be_parsed(name: str) -> None:
    parser = load(name).parser()

    for line, _ in parser.examples:
        _, _, rest = line.partition(f"cozyguard {name}")
        parser.parse(rest.split(), {})
