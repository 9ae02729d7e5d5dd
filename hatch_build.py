"""Puts the compiled bundled policies into the wheel (docs/decisions/0004-policy-cache.md)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.builders.wheel import WheelBuilderConfig


class CompiledPolicies(BuildHookInterface[WheelBuilderConfig]):
    """Has the tree that a wheel is built of compile its own policies."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, in a process whose hashes are the same each time, so that the wheel is too."""
        if version == "editable":
            return
        self._made.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "webhook.sources.shipped", str(self._made)]
        subprocess.run(command, cwd=self.root, env={**os.environ, "PYTHONHASHSEED": "0"}, check=True)  # noqa: S603 - ourselves
        build_data["force_include"][str(self._made)] = "webhook/bundled.pickle"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002 - hatchling's signature
        """Leave only the wheel."""
        self._made.unlink(missing_ok=True)

    @property
    def _made(self) -> Path:
        return Path(self.directory, "bundled.pickle")
