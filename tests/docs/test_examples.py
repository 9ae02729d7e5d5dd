"""Every example of the documentation is loaded or run, page by page, in the order in which it is read.

A fenced block is known by its language. `yaml` that begins with `# name.yaml` is written to a file of that name, which
later examples of the page can use. `console` holds command lines behind `$ `, each with what a terminal shows.
"""

from __future__ import annotations

import io
import json
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from webhook.cli import COMMANDS, load, main
from webhook.errors import DocumentError
from webhook.sources import compiled, configuration, manifests, suites

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

_FENCE = re.compile(r"^( *)```(\w+)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# ([\w./-]+\.\w+)\n")
_KIND = re.compile(r"^kind: *(\w+)", re.MULTILINE)
_SECONDS = re.compile(r"in \d+\.\d\d s:")


@dataclass(frozen=True)
class Block:
    """A fenced example, and where it stands."""

    place: str
    language: str
    text: str


@dataclass
class Shell:
    """What examples may use: cozyguard, `cat FILE`, `echo $?`, and `< FILE`."""

    code: int = 0

    def run(self, line: str) -> str:
        """Run a command line; gives what a terminal would show, standard error where it is written."""
        command, _, source = line.partition(" < ")
        match shlex.split(command):
            case ["cozyguard", *argv]:
                return self._cozyguard(argv, Path(source).read_bytes() if source else b"")
            case ["cat", file]:
                return Path(file).read_text(encoding="utf-8")
            case ["echo", "$?"]:
                return f"{self.code}\n"
        raise AssertionError(f"no command that examples may use: {line}")

    def _cozyguard(self, argv: list[str], stdin: bytes) -> str:
        shown = io.StringIO()
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(shown), redirect_stderr(shown):
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
            self.code = main(argv)
        return shown.getvalue()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An empty folder to run a page's examples in, with the repository's own examples."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    with chdir(tmp_path):
        yield tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_of_a_page_do_what_it_says(page: Path, folder: Path) -> None:
    shell = Shell()
    faults = [fault for block in _blocks(page) for fault in _CHECKS.get(block.language, _nothing)(block, shell)]
    assert not faults, "\n\n".join(faults)


def _blocks(page: Path) -> Iterator[Block]:
    content = page.read_text(encoding="utf-8")
    for match in _FENCE.finditer(content):
        indent, language, text = match.groups()
        line = content[: match.start()].count("\n") + 1
        yield Block(f"{page.relative_to(ROOT)}:{line}", language, re.sub(f"(?m)^{indent}", "", text))


def _nothing(block: Block, shell: Shell) -> Iterator[str]:
    yield from ()


def _yaml(block: Block, shell: Shell) -> Iterator[str]:
    """Load a document by its kind; what has none is part of one, and has to be YAML."""
    named = _FILE.match(block.text)
    file = Path(named[1] if named else "example.yaml")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(block.text, encoding="utf-8")
    kinds = set(_KIND.findall(block.text))
    if any(kind.endswith("AdmissionPolicy") for kind in kinds):
        yield from _told(block, compiled.load([file]).errors)
    elif "PolicyTest" in kinds:
        yield from _told(block, suites.load([file]).errors)
    elif kinds & {"Configuration", "PolicyException"}:
        configuration.load(file)
    elif kinds:
        yield from _told(block, [each for each in manifests.read([str(file)]) if isinstance(each, DocumentError)])
    else:
        manifests.yaml.read(block.text.encode(), str(file))


def _told(block: Block, errors: Iterator[DocumentError] | tuple[DocumentError, ...] | list[DocumentError]) -> list[str]:
    return [f"{block.place}: {error}" for error in errors]


def _json(block: Block, shell: Shell) -> Iterator[str]:
    json.loads(block.text)
    yield from ()


def _console(block: Block, shell: Shell) -> Iterator[str]:
    """Run the commands, and compare what they show with what the page says."""
    for part in re.split(r"(?m)^\$ ", block.text)[1:]:
        command, _, said = part.partition("\n")
        shown = shell.run(command)
        if _timeless(shown) != _timeless(said):
            yield f"{block.place}: $ {command}\n{shown}"


def _timeless(text: str) -> str:
    """Leave out the time that a run took, and the empty lines at the end, which a page has no use for."""
    return _SECONDS.sub("in 0.00 s:", text).rstrip()


def _sh(block: Block, shell: Shell) -> Iterator[str]:
    """Commands that need a cluster or a key are not run; their flags have to be ours all the same."""
    for line in block.text.replace("\\\n", " ").splitlines():
        for command, argv in re.findall(r"\bcozyguard (\w+)((?: [^|>#]*)?)", line):
            assert command in COMMANDS, f"{block.place}: {line}"
            load(command).parser().parse(shlex.split(argv), {})
    yield from ()


_CHECKS: dict[str, Callable[[Block, Shell], Iterator[str]]] = {
    "yaml": _yaml,
    "json": _json,
    "console": _console,
    "sh": _sh,
}
