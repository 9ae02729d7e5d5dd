"""Manifests that are made by other tools: kustomizations and Helm charts, rendered by what is on the PATH."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from webhook.errors import UsageError
from webhook.model.result import HELM, KUSTOMIZE

_NOT_IN_A_RELEASE: Final = re.compile(r"[^a-z0-9-]+")
_LONGEST: Final = 53
"""Characters that Helm takes."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """What a tool made: `name` stands where a file's name does, and lines count in `content`."""

    name: str
    content: bytes


def kustomize(folder: str) -> Rendered:
    """Build a kustomization, with kustomize or with the one that kubectl has. Raises UsageError."""
    tool = ("kustomize", "build") if shutil.which("kustomize") else ("kubectl", "kustomize")
    return _run(f"{KUSTOMIZE}{folder}", (*tool, "--", folder))


def helm(chart: str, values: Sequence[str], namespace: str) -> Rendered:
    """Render a chart, its CRDs too, as a release that is called like it. Raises UsageError."""
    options = ("--include-crds", f"--namespace={namespace}", *(f"--values={file}" for file in values))
    return _run(f"{HELM}{chart}", ("helm", "template", *options, "--", release(chart), chart))


def release(chart: str) -> str:
    """Call a release like the folder or `oci://…` of its chart, as far as Helm takes it."""
    name = os.path.basename(os.path.abspath(chart))  # noqa: PTH100, PTH119 - `oci://…` is no path, and its end is the name
    return _NOT_IN_A_RELEASE.sub("-", name.lower())[:_LONGEST].strip("-") or "release"


def _run(name: str, command: Sequence[str]) -> Rendered:
    tool = command[0]
    try:
        ran = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - a fixed program, its arguments apart
    except FileNotFoundError:
        wanted = "kustomize or kubectl" if tool == "kubectl" else tool
        raise UsageError(f"`{name}` cannot be rendered: {wanted} is not on the PATH") from None
    if ran.returncode:
        why = ran.stderr.decode(errors="replace").strip() or f"{tool} ended with {ran.returncode}"
        raise UsageError(f"`{name}` cannot be rendered: {why}")
    return Rendered(name, ran.stdout)
