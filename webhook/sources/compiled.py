"""Policy files → compiled policies, from the cache where these very files were compiled before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from webhook.engine.compile import CompiledPolicy, compile_policy
from webhook.errors import DocumentError, DocumentErrors
from webhook.sources import policies, policy_files
from webhook.sources.cache import remembered
from webhook.sources.policy_files import PolicyFile


@dataclass(frozen=True, slots=True)
class Compiled:
    """What policy files gave: those policies that compile, and all that is wrong with the others."""

    policies: tuple[CompiledPolicy, ...]
    errors: tuple[DocumentError, ...] = ()
    notices: tuple[DocumentError, ...] = ()


def compile_files(files: Iterable[policies.Source]) -> Compiled:
    """Compile the policies of files that are in memory already, whatever the cache holds."""
    loaded = policies.read(files)
    compiled: list[CompiledPolicy] = []
    errors = list(loaded.errors)
    for policy in loaded.policies:
        try:
            compiled.append(compile_policy(policy))
        except DocumentErrors as faults:
            errors += faults
    return Compiled(tuple(compiled), tuple(errors), loaded.notices)


def load(paths: Iterable[str | Path], make: Callable[[tuple[PolicyFile, ...]], Compiled] = compile_files) -> Compiled:
    """Compile the policies of files and folders. Nothing is raised: what is broken is in `errors`.

    `make` compiles what the cache does not hold.
    """
    files, unread = policy_files.find(paths)
    made = remembered(_parts(files), lambda: make(files))
    return Compiled(made.policies, tuple(sorted({*unread, *made.errors})), made.notices)


def _parts(files: tuple[PolicyFile, ...]) -> Iterator[bytes]:
    """Everything that compiling depends on: contents, and the names that locations speak of."""
    for file in files:
        yield from (file.name.encode(), file.root.encode(), bytes([file.strict]), file.content)
