"""Through the cluster: every target, page by page, several at once; trouble with one leaves the others alone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final

from webhook.cluster.faults import ApiError, Unreachable
from webhook.cluster.pager import Pager
from webhook.errors import DocumentError
from webhook.model.request import Object
from webhook.runs.audit.extent import Extent
from webhook.runs.audit.prepare import gap
from webhook.runs.audit.state import Listing, State
from webhook.runs.audit.targets import Target

_AT_ONCE: Final = 32
"""Objects that are judged before others have their turn: some milliseconds of work."""

Take = Callable[[Target, Sequence[Object]], Awaitable[Sequence[Object]]]
"""Judges objects, and gives those that there is something to say about."""


@dataclass(slots=True)
class Coverage:
    """How far an audit has come: `complete` are the targets of which every object has been looked at."""

    complete: list[Target] = field(default_factory=list)
    gaps: list[DocumentError] = field(default_factory=list)
    notices: list[DocumentError] = field(default_factory=list)
    silent_before: int = 0
    """Objects that were looked at by the run that this one takes up, and that there is nothing to say about."""
    unreachable: bool = False
    interrupted: bool = False


async def walk(
    targets: Iterable[Target], extent: Extent, pager: Pager, parallel: int, take: Take, state: State | None = None
) -> Coverage:
    """Hand every object of an extent to `take`, and tell what was left out. A cancelled walk ends in good order.

    Of what `state` has as finished these are the objects that there was something to say about.
    """
    coverage, waiting = Coverage(), iter(targets)
    one = _Walk(pager, take, state, coverage)

    async def work() -> None:
        for target in waiting:
            await one.cover(target, extent.places(target.resource))

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(parallel):
                group.create_task(work())
    except asyncio.CancelledError:
        coverage.interrupted = True
    return coverage


@dataclass(frozen=True, slots=True)
class _Walk:
    """What everybody needs who takes part."""

    pager: Pager
    take: Take
    state: State | None
    coverage: Coverage

    async def cover(self, target: Target, places: Sequence[str]) -> None:
        """Look at a kind in some places, one after the other."""
        whole, coverage = True, self.coverage
        for place in places:
            what = f"{target.resource.full_name} in {place}" if place else target.resource.full_name
            if coverage.unreachable:  # what is tried again and again for one kind need not be for every other
                whole = False
                coverage.gaps.append(gap(what, "the cluster does not answer any more"))
                continue
            try:
                await self._list(target, target.resource.path(place))
            except ApiError as error:
                whole = False
                coverage.unreachable |= isinstance(error, Unreachable)
                _note(what, error, coverage)
        if whole:
            coverage.complete.append(target)

    async def _list(self, target: Target, path: str) -> None:
        if self.state and (before := self.state.finished.get(path)):
            self.coverage.silent_before += before.silent
            for namespace, name in before.told:
                await self._read(target, target.resource.path(namespace), name)
            return
        listing = await self._read(target, path)
        if self.state:
            self.coverage.notices += self.state.keep(path, listing)

    async def _read(self, target: Target, path: str, name: str = "") -> Listing:
        """Hand over what a list holds, or one object of it."""
        silent, told = 0, []
        async with aclosing(self.pager.pages(path, name)) as pages:
            async for page in pages:
                for start in range(0, len(page.items), _AT_ONCE):
                    part = page.items[start : start + _AT_ONCE]
                    found = [one["metadata"] for one in await self.take(target, part)]
                    told += [(one.get("namespace", ""), one["name"]) for one in found]
                    silent += len(part) - len(found)
                    await asyncio.sleep(0)
                page.items.clear()  # or it would be there still while the next one is read
        return Listing(silent, told)


def _note(what: str, error: ApiError, coverage: Coverage) -> None:
    if error.is_not_found:
        coverage.notices.append(DocumentError(what, message="is served no longer: it was deleted while the audit ran"))
    elif error.is_forbidden:
        coverage.gaps.append(gap(what, "needs the verb list on it"))
    else:
        coverage.gaps.append(gap(what, str(error)))
