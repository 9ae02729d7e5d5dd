"""Which files a path stands for, as kubectl takes them: a file, or all manifests under a folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from webhook.errors import DocumentError

STDIN: Final = "-"

_SUFFIXES: Final = frozenset({".yaml", ".yml", ".json"})
_KUSTOMIZATION: Final = frozenset({"kustomization.yaml", "kustomization.yml", "Kustomization"})


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or folder that is plainly something else than manifests, and what to do about it."""

    file: str
    reason: str

    @property
    def note(self) -> DocumentError:
        """What to tell about it."""
        return DocumentError(self.file, message=f"passed over: {self.reason}")


def find(paths: Iterable[str]) -> Iterator[str | Skipped | DocumentError]:
    """Give the files to read, those of a folder sorted and each once (`./a.yaml` is `a.yaml`); `-` stays as it is.

    Hidden folders and files are left out without a word. Errors are for paths that do not exist, cannot be read, hold
    nothing, or lead back to themselves.
    """
    seen: set[str] = set()
    for path in paths:
        if path == STDIN or not _is_folder(path):
            found: Iterator[str | Skipped | DocumentError] = iter([path])
        else:
            found = _folder(path)
        for each in found:
            if not isinstance(each, str):
                yield each
            elif (written := os.path.normpath(each)) not in seen:
                seen.add(written)
                yield each


def _folder(path: str) -> Iterator[str | Skipped | DocumentError]:
    empty = True
    for each in _walk(Path(path), ()):
        empty = False
        yield each
    if empty:
        yield DocumentError(path, message="got a folder without manifests, want a `*.yaml`, `*.yml` or `*.json` in it")


def _walk(folder: Path, above: tuple[str, ...]) -> Iterator[str | Skipped | DocumentError]:
    real = os.path.realpath(folder)
    if real in above:
        yield DocumentError(str(folder), message=f"got a link to `{real}`, which holds it: not followed")
        return
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        yield unreadable(str(folder), error)
        return
    if any(entry.name == "Chart.yaml" for entry in entries):
        yield Skipped(str(folder), "a Helm chart: render it with `helm template`, and check what comes out")
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if _is_folder(entry):
            yield from _walk(entry, (*above, real))
        elif entry.name in _KUSTOMIZATION:
            yield Skipped(str(entry), "instructions for kustomize: check what `kubectl kustomize` makes of them")
        elif entry.suffix in _SUFFIXES:
            yield str(entry)


def _is_folder(path: str | Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 - Path.is_dir raises where the folder above may not be entered


def unreadable(file: str, error: OSError) -> DocumentError:
    """Say why a file or folder cannot be read."""
    reason = (error.strerror or str(error)).lower()
    return DocumentError(file, message=f"cannot be read: {reason}")
