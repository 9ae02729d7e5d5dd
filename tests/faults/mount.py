"""A folder as the kubelet mounts a Secret."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path


class Mount:
    """Its files are links into another folder, and all change at once when a link to that is replaced."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._version = 0
        folder.mkdir()

    def write(self, files: Mapping[str, bytes]) -> None:
        """Replace all files."""
        before, self._version = self._version, self._version + 1
        inner, link = self.folder / f"..{self._version}", self.folder / "..data_tmp"
        inner.mkdir()
        for name, content in files.items():
            (inner / name).write_bytes(content)
            if not before:
                (self.folder / name).symlink_to(f"..data/{name}")
        link.symlink_to(inner.name)
        link.replace(self.folder / "..data")
        shutil.rmtree(self.folder / f"..{before}", ignore_errors=True)
