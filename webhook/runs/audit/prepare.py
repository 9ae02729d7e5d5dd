"""What an audit works with: policies of files and of the cluster, its release, its kinds, and what policies look up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from webhook.cel.errors import NotKnown
from webhook.cluster.authorizer import Ask, Authorizer, NoQuestions, Questions
from webhook.cluster.cache import WatchCache
from webhook.cluster.client import Client
from webhook.cluster.discovery import Resources
from webhook.cluster.faults import ApiError, Unreachable
from webhook.cluster.rate import Rate
from webhook.cluster.resources import (
    ADMISSION_POLICIES,
    NAMESPACES,
    POLICY_EXCEPTIONS,
    SUBJECT_ACCESS_REVIEWS,
    Resource,
)
from webhook.cluster.wants import wanted
from webhook.engine.context import Context
from webhook.engine.policyset import PolicySet
from webhook.errors import DocumentError, UsageError, did_you_mean
from webhook.model.configuration import Configuration
from webhook.model.release import Minor, Release
from webhook.model.request import Object
from webhook.model.result import Setup
from webhook.runs.audit.extent import WHOLE, Extent, Shard
from webhook.runs.audit.targets import Target, targets
from webhook.runs.selection import Selection
from webhook.sources import catalog, installed, releases
from webhook.sources.compiled import Compiled
from webhook.sources.installed import Installation, Installed

_PATIENCE: Final = 300.0
"""Seconds in which all that policies look up has to be listed: 100,000 objects take a minute."""
_ANY_GROUP: Final = "*"


@dataclass(frozen=True, slots=True)
class Asked:
    """What an audit is about. `after` is the release that an upgrade leads to, if that is what is asked about."""

    selection: Selection
    configuration: Configuration
    release: Minor | None = None
    after: Minor | None = None
    kinds: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    shard: Shard = WHOLE


@dataclass(frozen=True, slots=True)
class Ready:
    """An audit that can run: `gaps` says what it cannot look at, `after` is the release that an upgrade leads to."""

    setup: Setup
    context: Context
    targets: tuple[Target, ...]
    extent: Extent
    gaps: tuple[DocumentError, ...] = ()
    notices: tuple[DocumentError, ...] = ()
    after: Release | None = None
    questions: Callable[[], Questions] = NoQuestions
    """Begins those of one object: what expressions ask of `authorizer`."""


def gap(what: str, why: str) -> DocumentError:
    """Say of a kind, or of anything else that the cluster holds, that the audit does not cover it."""
    return DocumentError(what, message=f"not audited: {why}")


@asynccontextmanager
async def ready(client: Client, rate: Rate, asked: Asked, files: Compiled) -> AsyncIterator[Ready]:
    """Prepare an audit; what policies look up is followed as long as it runs.

    Raises ApiError (Unreachable is one) when the cluster does not tell what it serves, and UsageError for what is asked
    about and does not exist.
    """
    resources = await Resources.load(client)
    found, unread = await _installed(client, resources)
    faults = (*files.errors, *found.faults())
    known = found.over(files.policies)
    if not faults:  # a policy that does not compile has no name here
        asked.selection.check([one.policy.name for one in known])
    policies = PolicySet.link(one for one in known if one.policy.background and asked.selection.takes(one.policy))
    cache = WatchCache(client)
    try:
        await _follow(cache, policies)
        extent = _extent(asked, cache)
        release, after, notices = _releases(asked, cache)
        held = [one.version for one in (release, after) if one]
        yield Ready(
            Setup(str(release.version), len(policies), faults),
            Context(release, cache, found.added_to(asked.configuration), datetime.now(UTC)),
            targets(resources, policies, held, asked.kinds),
            extent,
            (*unread, *_broken(resources, policies)),
            (*files.notices, *notices),
            after,
            Authorizer(_asking(client, rate)).questions,
        )
    finally:
        await cache.close()


async def _installed(client: Client, resources: Resources) -> tuple[Installed, list[DocumentError]]:
    """Read policies and exceptions that are objects of the cluster, and say which may not be read."""
    objects: dict[Resource, list[Object]] = {ADMISSION_POLICIES: [], POLICY_EXCEPTIONS: []}
    gaps: list[DocumentError] = []
    for resource, kept in objects.items():
        if resources.find(resource.api_version, resource.kind) is None:
            continue
        try:
            async for page in client.pages(resource.path()):
                kept += map(installed.kept, page.items)
        except ApiError as error:
            if not error.is_forbidden:
                raise
            gaps.append(DocumentError(resource.full_name, message="not honoured: needs the verb list on it"))
    return Installation().load(objects[ADMISSION_POLICIES], objects[POLICY_EXCEPTIONS]), gaps


def _asking(client: Client, rate: Rate) -> Ask:
    """Ask what somebody may do, until it turns out that it may not be asked, or that nobody answers."""
    given_up: list[ApiError] = []

    async def ask(review: Object) -> Object:
        if given_up:
            raise given_up[0]
        await rate.turn()
        try:
            return await client.create(SUBJECT_ACCESS_REVIEWS.path(), review)
        except ApiError as error:
            if error.is_forbidden or isinstance(error, Unreachable):
                given_up.append(error)
            raise

    return ask


async def _follow(cache: WatchCache, policies: PolicySet) -> None:
    try:
        async with asyncio.timeout(_PATIENCE):
            await cache.follow(wanted(policies))
    except TimeoutError:
        raise Unreachable("the API server does not answer for what policies look up") from None


def _extent(asked: Asked, cache: WatchCache) -> Extent:
    """Find the part of the cluster. Raises UsageError for a namespace that there is not, or if all have to be known."""
    try:
        found = cache.list(NAMESPACES.api_version, NAMESPACES.kind, "", None)
    except NotKnown as error:
        if asked.shard.count > 1 and not asked.namespaces:
            raise UsageError(f"argument --shard: to share them out, it has to know {error}") from None
        return Extent(asked.namespaces, asked.shard)
    every = sorted(str(one["metadata"]["name"]) for one in found)
    for name in asked.namespaces:  # nothing would be found wrong in it
        if name not in every:
            raise UsageError(f"argument --namespace: there is no namespace `{name}`{did_you_mean(name, every)}")
    return Extent(asked.namespaces, asked.shard, tuple(every))


def _releases(asked: Asked, cache: WatchCache) -> tuple[Release, Release | None, list[DocumentError]]:
    """Find the release, and the one after it if that is asked about, with what there is to say about them."""
    chosen = asked.release or asked.configuration.release
    release, warning = releases.in_force(chosen, cache, releases.package_sources(cache))
    after, another = catalog.upgraded(release, asked.after) if asked.after else (None, None)
    return release, after, [DocumentError("release", message=text) for text in (warning, another) if text]


def _broken(resources: Resources, policies: PolicySet) -> Iterator[DocumentError]:
    """Name the APIs whose own server does not answer, so that their kinds are not even known."""
    groups = {
        group for one in policies.policies for rule in one.policy.match.resource_rules for group in rule.api_groups
    }
    for api_version in resources.broken:
        if groups & {_ANY_GROUP, api_version.rpartition("/")[0]}:
            yield gap(api_version, "its API does not answer; see `kubectl get apiservices`")
