"""Policies that are elsewhere: a commit of a git repository, or an artifact of an OCI registry, named by what it holds.

A branch or tag can be moved by whoever may write there, and other policies would be in force: both are refused.
What was fetched is kept in the cache, and is not asked for again.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from tempfile import TemporaryDirectory
from typing import Final

from webhook.errors import UsageError
from webhook.sources.cache import remembered
from webhook.sources.checkout import Checkout

Files = list[tuple[str, bytes]]
"""Path within the repository or artifact, and content."""

_GIT: Final = re.compile(r"git::(?P<url>(?:[\w+.-]+://)?[^?]+?)(?://(?P<path>[^?]*))?(?:\?ref=(?P<ref>[^?&]*))?")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_OCI: Final = re.compile(r"oci://(?P<name>[^@]+?)(?::[\w.-]+)?(?:@(?P<digest>[^@]*))?")
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_CREDENTIALS: Final = re.compile(r"(https?://)[^/?@]*@")
_SUFFIXES: Final = (".yaml", ".yml", ".json")
_SHOWN: Final = 12
"""Characters of a digest that people look at."""


def fetch(reference: str) -> Files:
    """Give the YAML and JSON files below a reference, each with a name to show. Raises UsageError."""
    name, get = _git(reference) if reference.startswith("git::") else _oci(reference)
    found: Files = remembered([b"remote", reference.encode(errors="surrogateescape")], get)
    return [(f"{name}//{path}", content) for path, content in found]


def shown(reference: str) -> str:
    """Write a reference without the credentials that a URL can have."""
    return _CREDENTIALS.sub(r"\1", reference)


def _git(reference: str) -> tuple[str, Callable[[], Files]]:
    parts, said = _GIT.fullmatch(reference), shown(reference)
    if not parts:
        raise UsageError(f"`{said}`: want `git::URL//FOLDER?ref=COMMIT`")
    url, folder, ref = parts["url"], (parts["path"] or "").strip("/"), parts["ref"] or ""
    if not _COMMIT.fullmatch(ref):
        got = f"got ref `{ref}`" if ref else "got no ref"
        raise UsageError(f"`{said}`: {got}, want a whole commit (`?ref=` and 40 digits): branches and tags can move")

    def get() -> Files:
        with TemporaryDirectory() as repository:
            _run(said, "init", "--quiet", "--bare", repository)
            # Its place is said as an option: hooks of git have another one in their environment.
            _run(said, "--git-dir", repository, "fetch", "--quiet", "--depth=1", "--no-tags", "--", url, ref)
            checkout = Checkout(repository, ref)
            paths = (path for path in checkout.all() if _is_below(path, folder) and path.endswith(_SUFFIXES))
            found = [(path, checkout.read(path)) for path in paths]
        if not found:
            raise UsageError(f"`{said}`: the commit has no YAML or JSON file{f' in `{folder}`' if folder else ''}")
        return [(path, text.encode()) for path, text in found if text is not None]

    return f"{shown(url)}@{ref[:_SHOWN]}", get


def _is_below(path: str, folder: str) -> bool:
    return not folder or path == folder or path.startswith(f"{folder}/")


def _run(reference: str, *arguments: str) -> None:
    environment = os.environ | {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        ran = subprocess.run(["git", *arguments], capture_output=True, check=False, env=environment)  # noqa: S603, S607 - a fixed program, its arguments apart
    except FileNotFoundError:
        raise UsageError(f"`{reference}` cannot be fetched: git is not on the PATH") from None
    if ran.returncode:
        said = ran.stderr.decode(errors="replace").splitlines()
        why = next((line for line in said if line.startswith("fatal:")), f"git ended with {ran.returncode}")
        raise UsageError(f"`{reference}` cannot be fetched: {shown(why.removeprefix('fatal: '))}")


def _oci(reference: str) -> tuple[str, Callable[[], Files]]:
    parts = _OCI.fullmatch(reference)
    digest = parts["digest"] if parts else None
    if not parts or not _DIGEST.fullmatch(digest or ""):
        got = f"got digest `{digest}`" if digest else "got no digest"
        raise UsageError(f"`{reference}`: {got}, want `oci://REGISTRY/NAME@sha256:…`: tags can move")
    name, pinned = parts["name"], digest or ""

    def get() -> Files:
        from webhook.sources.oci import pull  # here: its library is optional

        return pull(name, pinned)

    return f"oci://{name}@{pinned[: len('sha256:') + _SHOWN]}", get
