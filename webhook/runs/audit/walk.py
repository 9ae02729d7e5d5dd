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
from webhook.runs.audit.targets import Target

_AT_ONCE: Final = 32
"""Objects that are judged before others have their turn: some milliseconds of work."""

Take = Callable[[Target, Sequence[Object]], Awaitable[None]]


@dataclass(slots=True)
class Coverage:
    """How far an audit has come: `complete` are the targets of which every object has been looked at."""

    complete: list[Target] = field(default_factory=list)
    gaps: list[DocumentError] = field(default_factory=list)
    notices: list[DocumentError] = field(default_factory=list)
    unreachable: bool = False
    interrupted: bool = False


async def walk(targets: Iterable[Target], extent: Extent, pager: Pager, parallel: int, take: Take) -> Coverage:
    """Hand every object of an extent to `take`, and tell what was left out. A cancelled walk ends in good order."""
    coverage, waiting = Coverage(), iter(targets)

    async def work() -> None:
        for target in waiting:
            await _cover(target, extent.places(target.resource), pager, take, coverage)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(parallel):
                group.create_task(work())
    except asyncio.CancelledError:
        coverage.interrupted = True
    return coverage


async def _cover(target: Target, places: Sequence[str], pager: Pager, take: Take, coverage: Coverage) -> None:
    whole = True
    for place in places:
        what = f"{target.resource.full_name} in {place}" if place else target.resource.full_name
        if coverage.unreachable:  # what is tried again and again for one kind need not be for every other
            whole = False
            coverage.gaps.append(gap(what, "the cluster does not answer any more"))
            continue
        try:
            await _read(target, target.resource.path(place), pager, take)
        except ApiError as error:
            whole = False
            coverage.unreachable |= isinstance(error, Unreachable)
            _note(what, error, coverage)
    if whole:
        coverage.complete.append(target)


def _note(what: str, error: ApiError, coverage: Coverage) -> None:
    if error.is_not_found:
        coverage.notices.append(DocumentError(what, message="is served no longer: it was deleted while the audit ran"))
    elif error.is_forbidden:
        coverage.gaps.append(gap(what, "needs the verb list on it"))
    else:
        coverage.gaps.append(gap(what, str(error)))


async def _read(target: Target, path: str, pager: Pager, take: Take) -> None:
    async with aclosing(pager.pages(path)) as pages:
        async for page in pages:
            for start in range(0, len(page.items), _AT_ONCE):
                await take(target, page.items[start : start + _AT_ONCE])
                await asyncio.sleep(0)
            page.items.clear()  # or it would be there still while the next one is read
