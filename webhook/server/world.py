"""What reviews are decided with, from files and from the cluster: policies, release, configuration, objects."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from webhook.engine.compile import CompiledPolicy
from webhook.engine.context import DEFAULT_CONFIGURATION, Cluster
from webhook.engine.policyset import PolicySet
from webhook.errors import DocumentErrors, UsageError
from webhook.model.configuration import Configuration
from webhook.model.release import Release
from webhook.server.compiling import compile_policies, read_configuration
from webhook.server.logs import Log
from webhook.server.settings import Settings
from webhook.server.watched import fingerprint
from webhook.sources import releases, yaml
from webhook.sources.bundled import bundled
from webhook.sources.installed import Installed
from webhook.sources.objects import ObjectStore

if TYPE_CHECKING:
    from webhook.cluster.authorizer import Authorizer
    from webhook.server.live import Live


NOTHING_INSTALLED: Final = Installed()


@dataclass(frozen=True, slots=True)
class Files:
    """The policies of files, and what these looked like when they were read."""

    seen: object
    policies: tuple[CompiledPolicy, ...]


NO_FILES: Final = Files((), ())


@dataclass(frozen=True, slots=True)
class World:
    """All that a decision depends on but the request."""

    policies: PolicySet
    release: Release
    configuration: Configuration
    cluster: Cluster
    files: Files = NO_FILES
    installed: Installed = NOTHING_INSTALLED
    learn_namespace: Callable[[str], Awaitable[None]] | None = None
    """To be awaited before a review of something in this namespace; it is made a moment before what it holds."""
    authorizer: Authorizer | None = None
    """Answers what expressions ask of `authorizer`."""


def paths(settings: Settings, current: World | None) -> tuple[Path, ...]:
    """List the files and folders that a world is made from; the configuration in force may name some."""
    given = current.configuration if current else DEFAULT_CONFIGURATION
    others = (settings.config, settings.cluster_state)
    return _policy_paths(settings, given) + tuple(file for file in others if file)


def load(settings: Settings, log: Log, live: Live | None, before: World | None) -> World:
    """Read everything. Raises UsageError and DocumentErrors: a server enforces every file it is given, or none.

    What is installed in the cluster counts one by one: its status says what is wrong with it. Policies of files that
    have not changed since `before` are taken from there.
    """
    given = read_configuration(settings.config) if settings.config else DEFAULT_CONFIGURATION
    files = _read(_policy_paths(settings, given), before.files if before else NO_FILES, log)
    found = live.installed() if live else NOTHING_INSTALLED
    for fault in found.faults():
        log.warning("an installed object is invalid", fault=str(fault))
    policies = PolicySet.link(found.over(files.policies))
    cluster = live.follow(policies) if live else _cluster(settings.cluster_state)
    release = _release(settings, given, cluster, log)
    learn = live.cache.learn_namespace if live else None
    authorizer = live.authorizer if live else None
    return World(policies, release, found.added_to(given), cluster, files, found, learn, authorizer)


def _read(paths: tuple[Path, ...], before: Files, log: Log) -> Files:
    seen = fingerprint(paths)
    if seen == before.seen:
        return before
    made = compile_policies(paths)
    if made.errors:
        raise DocumentErrors(made.errors)
    for notice in made.notices:
        log.warning("policy notice", notice=str(notice))
    return Files(seen, made.policies)


def _policy_paths(settings: Settings, given: Configuration) -> tuple[Path, ...]:
    own = settings.policies or tuple(map(Path, given.policies)) or (bundled(),)
    return own + settings.add_policies


def _cluster(state: Path | None) -> ObjectStore:
    if state is None:
        return ObjectStore()
    try:
        documents = yaml.read(state.read_bytes(), str(state))
    except OSError as error:
        raise UsageError(f"cluster state `{state}` cannot be read: {str(error.strerror).lower()}") from None
    return ObjectStore(state=[document.value for document in documents])


def _release(settings: Settings, given: Configuration, cluster: Cluster, log: Log) -> Release:
    """Find the release's catalogue entry, with the PackageSources of the cluster laid over it."""
    wanted = settings.release or given.release
    release, warning = releases.in_force(wanted, cluster, releases.package_sources(cluster))
    if warning:
        log.warning("release", warning=warning)
    return release
