"""Every example of the documentation is loaded or run, page by page, in the order in which it is read.

A fenced block is known by its language. One that begins with `# name.yaml` is written to a file of that name, which
later examples of the page can use; `yaml` has to be right, `text` may be wrong. `console` holds command lines behind
`$ `, each with what a terminal shows; `--update-golden` writes that anew.
"""

from __future__ import annotations

import io
import json
import re
import shlex
import textwrap
from collections.abc import Callable, Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from webhook.cli import COMMANDS, load, main
from webhook.errors import DocumentError
from webhook.sources import compiled, configuration, manifests, yaml

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

_FENCE = re.compile(r"^( *)```(\w+)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# ([\w./-]+\.\w+)\n")
_KIND = re.compile(r"^kind: *(\w+)", re.MULTILINE)
_SECONDS = re.compile(r"in \d+\.\d\d s:")
"""How long a run took: the one part of what is shown that pages make up."""


@dataclass
class Shell:
    """What examples may use: cozyguard, `cat FILE` and `echo $?`."""

    code: int = 0

    def run(self, line: str) -> str:
        """Run a command line; gives what a terminal would show, standard error where it is written."""
        match shlex.split(line):
            case ["cozyguard", *argv]:
                with redirect_stdout(io.StringIO()) as shown, redirect_stderr(shown):
                    self.code = main(argv)
                return shown.getvalue()
            case ["cat", file]:
                return Path(file).read_text(encoding="utf-8")
            case ["echo", "$?"]:
                return f"{self.code}\n"
        raise AssertionError(f"no command that examples may use: {line}")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An empty folder to run a page's examples in, with the repository's own examples."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    with chdir(tmp_path):
        yield tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_of_a_page_do_what_it_says(page: Path, folder: Path, request: pytest.FixtureRequest) -> None:
    content, shell = page.read_text(encoding="utf-8"), Shell()

    def tried(match: re.Match[str]) -> str:
        indent, language, text = match.groups()
        now = _TRY[language](textwrap.dedent(text), shell)
        return f"{indent}```{language}\n{textwrap.indent(now, indent)}{indent}```"

    now = _FENCE.sub(tried, content)
    if request.config.getoption("--update-golden"):
        page.write_text(now, encoding="utf-8")
    assert now == content


def _write(text: str) -> Path:
    named = _FILE.match(text)
    file = Path(named[1] if named else "example.yaml")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def _text(text: str, shell: Shell) -> str:
    _write(text)
    return text


def _yaml(text: str, shell: Shell) -> str:
    """Load a document by its kind, run a suite; what has no kind is part of a document, and has to be YAML."""
    file = _write(text)
    kinds = set(_KIND.findall(text))
    if any(kind.endswith("AdmissionPolicy") for kind in kinds):
        assert compiled.load([file]).errors == ()
    elif "PolicyTest" in kinds:
        told = shell.run(f"cozyguard test {file}")
        assert shell.code == 0, told
    elif kinds & {"Configuration", "PolicyException"}:
        configuration.load(file)
    elif kinds:
        assert [each for each in manifests.read([str(file)]) if isinstance(each, DocumentError)] == []
    else:
        yaml.read(text.encode(), str(file))
    return text


def _json(text: str, shell: Shell) -> str:
    json.loads(text)
    return text


def _console(text: str, shell: Shell) -> str:
    """Run the commands, and say what a terminal would have shown."""
    commands = re.findall(r"(?m)^\$ (.*)", text)
    return "".join(f"$ {line}\n{_SECONDS.sub('in 0.02 s:', shell.run(line)).rstrip()}\n" for line in commands)


def _sh(text: str, shell: Shell) -> str:
    """Commands that need a cluster or a key are not run; their flags have to be ours all the same."""
    line = r"(?m)^(?:.*[|;&] )?(?:\w+=\S+ )*\S*\bcozyguard ((?:(?:catalog|export) )?\w+)((?: [^|>#\n]*)?)"
    for command, flags in re.findall(line, text.replace("\\\n", " ")):
        assert command in COMMANDS
        load(command).parser().parse(shlex.split(flags), {})
    return text


_TRY: dict[str, Callable[[str, Shell], str]] = {
    "yaml": _yaml,
    "text": _text,
    "json": _json,
    "console": _console,
    "sh": _sh,
}
