"""Policy files → compiled policies, from the cache where these very files were compiled before."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar

from webhook.engine.compile import CompiledPolicy, compile_policy
from webhook.errors import DocumentError, DocumentErrors
from webhook.model.policy import Location, Policy
from webhook.sources import cache, policies, policy_files, shipped
from webhook.sources.policy_files import PolicyFile

Faults = tuple[DocumentError, ...]
Given = TypeVar("Given")
Made = TypeVar("Made")

_PROCESSES: Final = 2
_MANY: Final = 24
"""Policies from which on a second process is worth starting."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """What policy files gave: those policies that compile, and all that is wrong with the others."""

    policies: tuple[CompiledPolicy, ...]
    errors: tuple[DocumentError, ...] = ()
    notices: tuple[DocumentError, ...] = ()


def compile_files(files: Iterable[policies.Source]) -> Compiled:
    """Compile the policies of files that are in memory already; those that have not changed come from the cache.

    Many are read and compiled in halves, each by a process. What a half finds wrong may be about the other one, so then
    all is read at once.
    """
    given = tuple(files)
    if len(given) >= _MANY and _may_fork():
        first, second = _in_processes(_read_and_compile, (given[: len(given) // 2], given[len(given) // 2 :]))
        told = first.errors or second.errors or first.notices or second.notices
        if not told and _names(first).isdisjoint(_names(second)):
            return Compiled(first.policies + second.policies)
    return _read_and_compile(given)


def _read_and_compile(files: Iterable[policies.Source]) -> Compiled:
    loaded = policies.read(files)
    made = compile_policies(loaded.policies)
    return Compiled(made.policies, (*loaded.errors, *made.errors), loaded.notices)


def compile_policies(given: tuple[Policy, ...]) -> Compiled:
    """Compile policies that are read; those that have not changed come from the cache."""
    made = _compile_all(given)
    return Compiled(tuple(one for one in made if isinstance(one, CompiledPolicy)), tuple(_errors(given, made)))


def load(paths: Iterable[str | Path], make: Callable[[tuple[PolicyFile, ...]], Compiled] = compile_files) -> Compiled:
    """Compile the policies of files and folders. Nothing is raised: what is broken is in `errors`.

    `make` compiles what neither the cache nor the wheel holds as a whole.
    """
    files, unread = policy_files.find(paths)

    def fresh() -> Compiled:
        cache.prune()
        return _beside_shipped(files, make)

    made = cache.remembered(_parts(files), fresh)
    return Compiled(made.policies, tuple(sorted({*unread, *made.errors})), made.notices)


def _beside_shipped(files: tuple[PolicyFile, ...], make: Callable[[tuple[PolicyFile, ...]], Compiled]) -> Compiled:
    """Make only what the wheel does not carry, unless something is wrong: that may speak of any other file."""
    own = tuple(file for file in files if not shipped.is_bundled(file))
    ready = shipped.find(tuple(file for file in files if shipped.is_bundled(file)))
    if ready is None:
        return make(files)
    if not own:
        return ready
    made = make(own)
    if made.errors or not _names(made).isdisjoint(_names(ready)):
        return make(files)
    return Compiled(ready.policies + made.policies, notices=ready.notices + made.notices)


def _names(made: Compiled) -> set[str]:
    return {one.policy.name for one in made.policies}


def _compile_all(given: tuple[Policy, ...]) -> list[CompiledPolicy | Faults]:
    """Compile in several processes where there is enough to do."""
    return _in_processes(_compile, given) if len(given) >= _MANY and _may_fork() else list(map(_compile, given))


def _may_fork() -> bool:
    """Is there a second processor; neither threads nor processes that were forked go on to fork."""
    from multiprocessing import parent_process  # here: a warm start needs none of it

    return (os.cpu_count() or 1) >= _PROCESSES and threading.active_count() == 1 and parent_process() is None


def _in_processes(work: Callable[[Given], Made], given: Sequence[Given]) -> list[Made]:
    """Do work in several processes: parts in a row, as neighbours have equal expressions."""
    from concurrent.futures import ProcessPoolExecutor  # here: a warm start needs none of it
    from multiprocessing import get_context

    with ProcessPoolExecutor(_PROCESSES, get_context("fork")) as pool:
        return list(pool.map(work, given, chunksize=-(-len(given) // _PROCESSES)))


def _errors(given: tuple[Policy, ...], made: Iterable[CompiledPolicy | Faults]) -> Iterator[DocumentError]:
    """Tell what is wrong with those that do not compile, but not again of what was made from them."""
    broken: set[Location] = set()
    for policy, one in zip(given, made, strict=True):
        if not isinstance(one, CompiledPolicy) and policy.location not in broken:
            broken |= set() if policy.generated_for else {policy.location}
            yield from one


def _compile(policy: Policy) -> CompiledPolicy | Faults:
    try:
        return cache.remembered([_identity(policy)], lambda: compile_policy(policy))
    except DocumentErrors as faults:
        return tuple(faults)


def _identity(policy: Policy) -> bytes:
    """Write a policy so that equal ones are written alike in every process."""
    return repr((sorted(policy.actions), replace(policy, actions=frozenset()))).encode("utf-8", "surrogatepass")


def _parts(files: tuple[PolicyFile, ...]) -> Iterator[bytes]:
    """Everything that compiling depends on: contents, and the names that locations speak of."""
    for file in files:
        yield from (file.name.encode(), file.root.encode(), bytes([file.strict]), file.content)
