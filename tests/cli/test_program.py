"""The program as a shell sees it."""

import json
import os
import pty
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from webhook import __version__
from webhook.cli import main

Run = Callable[..., Any]
Program = Callable[..., subprocess.CompletedProcess[str]]

COMMAND = [sys.executable, "-m", "webhook"]
PACKAGE = {"apiVersion": "cozystack.io/v1alpha1", "kind": "Package", "spec": {"variant": "odd"}}


@pytest.fixture
def environment(cache: Path) -> dict[str, str]:
    """The environment without what changes answers."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COZYGUARD_")}
    return kept | {"XDG_CACHE_HOME": str(cache)}


@pytest.fixture
def program(tmp_path: Path, environment: dict[str, str]) -> Program:
    """Run the real program in an empty folder."""

    def run(*argv: str, **settings: Any) -> subprocess.CompletedProcess[str]:
        extra = settings.pop("env", {})
        return subprocess.run(
            [*COMMAND, *argv],
            cwd=tmp_path,
            env=environment | extra,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
            **settings,
        )

    return run


@pytest.fixture
def many(tmp_path: Path) -> str:
    """Write objects enough to keep the program busy for a while; gives the file's name."""
    objects = (
        PACKAGE | {"metadata": {"name": "cozystack.hami", "labels": {"n": str(number)}}} for number in range(5_000)
    )
    (tmp_path / "many.yaml").write_text("\n---\n".join(["# YAML", *map(json.dumps, objects)]))
    return "many.yaml"


def test_the_version_and_the_commands_are_told(program: Program) -> None:
    assert program("--version").stdout == f"cozyguard {__version__}\n"
    helped = program("--help")
    assert helped.returncode == 0
    assert all(name in helped.stdout for name in ("check", "test", "serve"))
    assert program().returncode == 2


def test_results_go_to_stdout_and_all_else_to_stderr(program: Program) -> None:
    answer = program("check", "-", "none.yaml", input=json.dumps(PACKAGE | {"metadata": {"name": "cozystack.hami"}}))

    assert answer.returncode == 2
    assert "<stdin>:1:" in answer.stdout
    assert "none.yaml" not in answer.stdout
    assert answer.stderr == "none.yaml: input error: cannot be read: no such file or directory\n"


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["chekc"], "error: unknown command `chekc`; did you mean `check`?\nsee `cozyguard --help`\n"),
        (["--verzion"], "error: unknown flag `--verzion`\nsee `cozyguard --help`\n"),
        (
            ["check", "--clusterstate", "x"],
            "error: unknown flag `--clusterstate`; did you mean `--cluster-state`?\nsee `cozyguard check --help`\n",
        ),
        (["test", "--quick"], "error: unknown flag `--quick`\nsee `cozyguard test --help`\n"),
    ],
)
def test_a_typing_error_gets_a_hint(program: Program, argv: list[str], message: str) -> None:
    answer = program(*argv)

    assert (answer.returncode, answer.stdout, answer.stderr) == (2, "", message)


def test_a_reader_that_goes_away_ends_it_quietly(many: str, tmp_path: Path, environment: dict[str, str]) -> None:
    with subprocess.Popen(
        [*COMMAND, "check", many], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=30) == 141


def test_a_full_disk_is_an_error_in_words(tmp_path: Path, environment: dict[str, str]) -> None:
    with Path("/dev/full").open("w") as full:
        answer = subprocess.run(
            [*COMMAND, "--help"], cwd=tmp_path, env=environment, stdout=full, stderr=subprocess.PIPE, check=False
        )

    assert (answer.returncode, answer.stderr) == (2, b"error: output: no space left on device\n")


@pytest.mark.parametrize("streams", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(("argv", "code"), [("x.json", 1), ("none.yaml", 2), ("-", 0)])
def test_closed_streams_change_no_exit_code(
    tmp_path: Path, environment: dict[str, str], streams: str, argv: str, code: int
) -> None:
    (tmp_path / "x.json").write_text(json.dumps(PACKAGE | {"metadata": {"name": "cozystack.hami"}}))
    line = shlex.join([*COMMAND, "check", argv]) + f" {streams}"

    answer = subprocess.run(
        ["sh", "-c", line], cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )

    assert answer.returncode == code
    assert b"Traceback" not in answer.stderr


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_ends_it_quietly(many: str, tmp_path: Path, environment: dict[str, str], jobs: str) -> None:
    with subprocess.Popen(
        [*COMMAND, "check", many, "--jobs", jobs],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to the whole group
        process.stdout.read()
        assert process.stderr.read() == b""
        assert process.wait(timeout=30) == 130


def test_a_terminal_that_knows_only_ascii_gets_escapes(program: Program) -> None:
    obj = PACKAGE | {"metadata": {"name": "cozystack.hami"}, "spec": {"variant": "größe"}}

    answer = program(
        "check", "-", input=json.dumps(obj, ensure_ascii=False), env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    )

    assert answer.returncode == 1
    assert "gr\\xf6\\xdfe" in answer.stdout
    assert answer.stderr == ""


def on_terminal(argv: list[str], cwd: Path, environment: dict[str, str]) -> str:
    """Run with a terminal as standard output; gives what came there."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([*COMMAND, *argv], cwd=cwd, env=environment, stdout=theirs, stderr=subprocess.DEVNULL):
        os.close(theirs)
        text = b""
        while True:
            try:
                piece = os.read(ours, 1 << 16)
            except OSError:  # how Linux says that the other end is closed
                break
            text += piece
    os.close(ours)
    return text.decode()


@pytest.mark.parametrize(
    ("flags", "variables", "coloured"),
    [
        ([], {}, True),
        ([], {"NO_COLOR": "1"}, False),
        ([], {"TERM": "dumb"}, False),
        (["--color", "never"], {}, False),
        (["--color", "always"], {"NO_COLOR": "1"}, True),
    ],
)
def test_colour_is_for_terminals_that_want_it(
    tmp_path: Path, environment: dict[str, str], flags: list[str], variables: dict[str, str], coloured: bool
) -> None:
    (tmp_path / "x.json").write_text(json.dumps(PACKAGE | {"metadata": {"name": "cozystack.hami"}}))
    usual = {name: value for name, value in environment.items() if name != "NO_COLOR"} | {"TERM": "xterm"}

    shown = on_terminal(["check", "x.json", *flags], tmp_path, usual | variables)

    assert "error:" in shown
    assert ("\x1b[" in shown) is coloured


@pytest.mark.parametrize(
    "text",
    [
        "",
        "---\n---\n",
        "\x00",
        "{",
        "a: [1\n",
        "- 1\n",
        "just text",
        "&a [*a]",
        "? {}\n: 1\n",
        "\ud800",
        '{"kind": 1}',
        "%YAML 9\n---\n",
    ],
)
def test_no_input_ends_in_a_traceback(cozyguard: Run, tmp_path: Path, text: str) -> None:
    (tmp_path / "x.yaml").write_bytes(text.encode(errors="surrogatepass"))

    for argv in (["check", "x.yaml"], ["test", "x.yaml"], ["check", "x.yaml", "--policies", "x.yaml"]):
        answer = cozyguard(*argv)
        assert answer.code in (0, 2)
        assert "Traceback" not in answer.err


def test_help_of_a_command_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["check", "--help"])

    assert left.value.code == 0
    assert "examples:" in capsys.readouterr().out


def test_one_file_is_judged_without_the_heavy_libraries(
    program: Program, tmp_path: Path, environment: dict[str, str]
) -> None:
    (tmp_path / "x.json").write_text(json.dumps(PACKAGE | {"metadata": {"name": "cozystack.hami"}}))
    program("check", "x.json")  # now the policies are known
    code = "import sys; from webhook.cli import main; main(['check', 'x.json']); print(sorted(sys.modules), file=sys.stderr)"

    answer = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )

    loaded = set(json.loads(answer.stderr.replace("'", '"')))
    assert loaded.isdisjoint(
        {"pydantic", "aiohttp", "cel_expr_python", "google.protobuf", "prometheus_client", "cryptography"}
    )
