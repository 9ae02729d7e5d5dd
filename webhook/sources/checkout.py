"""A git repository at one ref, read without touching its work tree; it need not have one."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Final

from webhook.errors import UsageError

_UNTOUCHED: Final = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
"""Write nothing into somebody's repository, ask nothing, and speak the language that we pass on."""


class Checkout:
    """The files of a repository as they are at a tag, branch or commit."""

    def __init__(self, folder: str, ref: str) -> None:
        """Find the commit. Raises UsageError when there is no such repository, or no such ref in it."""
        inside = Path(folder, ".git")
        self._git_dir = inside if inside.exists() else Path(folder)
        self.ref = ref
        found = self._git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        if found.returncode:
            raise UsageError(self._why_not(folder))
        self._commit = found.stdout.decode().strip()

    def read(self, path: str) -> str | None:
        """Give a file's text; None where there is no such file."""
        found = self._git("cat-file", "blob", f"{self._commit}:{path}")
        return None if found.returncode else found.stdout.decode(errors="replace")

    def under(self, folder: str, suffix: str = "") -> Iterator[str]:
        """Give the paths of all files below a folder, sorted."""
        return (path for path in self._paths if path.startswith(f"{folder}/") and path.endswith(suffix))

    def all(self) -> Iterator[str]:
        """Give the paths of all files, sorted."""
        return filter(None, self._paths)

    @cached_property
    def _paths(self) -> tuple[str, ...]:
        listed = self._git("ls-tree", "-r", "-z", "--name-only", self._commit).stdout
        return tuple(sorted(listed.decode(errors="replace").split("\0")))

    def _why_not(self, folder: str) -> str:
        if self._git("rev-parse", "--git-dir").returncode:
            return f"`{folder}` is no git repository; `git clone` makes one"
        return f"`{folder}` has no ref `{self.ref}`; `git fetch --tags` brings what is new"

    def _git(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        command = ("git", "--git-dir", str(self._git_dir), *arguments)
        try:
            return subprocess.run(command, capture_output=True, check=False, env=os.environ | _UNTOUCHED)  # noqa: S603 - a fixed program, its arguments apart
        except FileNotFoundError:
            raise UsageError("git is not installed, and the catalogue is read with it") from None
