"""Which files hold policies: those that are named, and those that a folder has."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from webhook.errors import DocumentError, DocumentErrors
from webhook.sources import written
from webhook.sources.files import unreadable
from webhook.sources.written import Written

POLICY_FILE: Final = "policy.yaml"
TESTS_FILE: Final = "tests.yaml"
NO_POLICIES: Final = "holds no policies"
_SUFFIXES: Final = frozenset((".yaml", ".yml", ".json"))
_REMOTE: Final = ("git::", "oci://")
_MAY_HOLD_A_POLICY: Final = re.compile(rb"AdmissionPolicy|cozyguard\.io/|kyverno\.io/|gatekeeper\.sh/")


@dataclass(frozen=True, slots=True)
class PolicyFile:
    """A file and its bytes. `strict`: it was named, or is called `policy.yaml`, so only policies belong in it.

    `root` is the path it was found by.
    """

    name: str
    content: bytes
    strict: bool
    root: str

    def read(self) -> tuple[Written, ...]:
        """Read its objects, if it is worth parsing: other YAML in a folder, such as the release catalogue, is not.

        Raises DocumentErrors.
        """
        if self.strict or _MAY_HOLD_A_POLICY.search(self.content):
            return written.read(self.name, self.content)
        return self._check_is_whole()

    def _check_is_whole(self) -> tuple[()]:
        """Raise DocumentErrors where a file is empty or cannot be read as YAML.

        It may be a policy that is just being written: it must not vanish without a word.
        """
        from webhook.sources import yaml  # here: a warm start reads no YAML

        if not self.content.strip():
            raise DocumentErrors([DocumentError(self.name, message="is empty, want a policy (or no file at all)")])
        yaml.read(self.content, self.name)
        return ()


def find(paths: Iterable[str | Path]) -> tuple[tuple[PolicyFile, ...], tuple[DocumentError, ...]]:
    """Read the files that may hold policies, each once, and say which paths cannot be read.

    Raises UsageError for what has to be fetched and cannot be.
    """
    files: list[PolicyFile] = []
    errors: list[DocumentError] = []
    seen: set[str] = set()
    for path in paths:
        if str(path).startswith(_REMOTE):
            files += _fetched(str(path))
            continue
        path = Path(path)
        is_folder = os.path.isdir(path)  # noqa: PTH112 - unlike Path's, it does not raise where nobody may look
        candidates = list(_inside(path)) if is_folder else [path]
        if not candidates:
            errors.append(DocumentError(str(path), message=NO_POLICIES))
        for file in candidates:
            if (real := os.path.realpath(file)) in seen:
                continue
            seen.add(real)
            try:
                content = file.read_bytes()
            except OSError as error:
                errors.append(unreadable(str(file), error))
                continue
            strict = file == path or file.name == POLICY_FILE
            files.append(PolicyFile(str(file), content, strict, str(path)))
    return tuple(files), tuple(errors)


def _fetched(reference: str) -> Iterator[PolicyFile]:
    """Fetch the files of a reference that may hold policies. Raises UsageError."""
    from webhook.sources.remote import fetch  # here: few runs need it

    for name, content in fetch(reference):
        path = PurePosixPath(name)
        if path.suffix in _SUFFIXES and path.name != TESTS_FILE:
            yield PolicyFile(name, content, path.name == POLICY_FILE, reference)


def _inside(folder: Path) -> Iterator[Path]:
    """Walk a folder in order of names.

    Links are followed and hidden folders passed over: a mounted ConfigMap is links into `..data`.
    """
    visited: set[str] = set()
    for current, folders, files in os.walk(folder, followlinks=True):
        visited.add(os.path.realpath(current))
        folders[:] = sorted(
            name for name in folders if name[0] != "." and os.path.realpath(Path(current) / name) not in visited
        )
        for name in sorted(files):
            if name[0] != "." and name != TESTS_FILE and Path(name).suffix in _SUFFIXES:
                yield Path(current) / name
