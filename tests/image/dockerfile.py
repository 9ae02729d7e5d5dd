"""The Dockerfile, read, and its steps carried out without an engine: absolute paths stand below a folder."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "Dockerfile").read_text()

_MOUNT = re.compile(r"--mount=\S+ +")
_OWN = re.compile(r"(?<![\w.])/(?=opt/|var/cache/)")
"""Where a path begins that the image has for itself."""


class Instruction(NamedTuple):
    """`COPY`, with the rest of the line."""

    word: str
    rest: str


def stage(name: str) -> list[Instruction]:
    """Give the instructions of a stage; the last one has no name."""
    stages: dict[str, list[Instruction]] = {}
    current: list[Instruction] = []
    for instruction in _instructions():
        if instruction.word == "FROM":
            current = stages[instruction.rest.partition(" AS ")[2]] = []
        current.append(instruction)
    return stages[name]


def _instructions() -> Iterator[Instruction]:
    lines = (line for line in TEXT.splitlines() if not line.startswith("#"))
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        if line.strip():
            word, _, rest = line.partition(" ")
            yield Instruction(word, " ".join(rest.split()))


@dataclass
class Build:
    """Carries out a stage below a folder, with the python that is first on the PATH."""

    folder: Path
    path: str
    arguments: Mapping[str, str]
    environment: dict[str, str] = field(default_factory=dict)
    place: Path = Path()

    def carry_out(self, instructions: list[Instruction]) -> None:
        for word, rest in instructions:
            match word:
                case "ARG":
                    name, _, default = rest.partition("=")
                    self.environment[name] = self.arguments.get(name, default)
                case "ENV":
                    pairs = (pair.partition("=") for pair in shlex.split(rest))
                    self.environment |= {name: self.below(value) for name, _, value in pairs}
                case "WORKDIR":
                    self.place = Path(self.below(rest))
                    self.place.mkdir(parents=True)
                case "COPY":
                    *sources, target = rest.split()
                    for source in sources:
                        self._copy(source, target)
                case "RUN":
                    self.run(self.below(_MOUNT.sub("", rest)))

    def below(self, text: str) -> str:
        return _OWN.sub(f"{self.folder}/", text)

    def run(self, command: str) -> str:
        """Run a line of shell. Nothing of this process's environment is there, and no network for pip."""
        nowhere = {"PIP_INDEX_URL": "http://127.0.0.1:9", "PIP_RETRIES": "0", "PIP_CONFIG_FILE": os.devnull}
        environment = {"PATH": self.path, "HOME": str(self.folder)} | nowhere | self.environment
        done = subprocess.run(
            ["sh", "-ec", command], cwd=self.place, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    def _copy(self, source: str, target: str) -> None:
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, self.place / target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / source, self.place / target)
