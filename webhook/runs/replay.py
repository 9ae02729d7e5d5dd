"""Requests that were recorded → what policies say of them now, or what another set of policies would change."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace
from typing import Generic, TypeVar

from webhook.engine.pipeline import review
from webhook.model.decision import Finding
from webhook.model.preview import Difference, Previewed
from webhook.model.recorded import Asked, Recorded
from webhook.model.result import Checked, Patch, Resource, Result, Silenced, Source
from webhook.runs.locate import at_one_place
from webhook.runs.preview import differing
from webhook.runs.scan import Prepared

Item = TypeVar("Item", Checked, Previewed)
About = TypeVar("About", bound=Result | Patch)


def judge(prepared: Prepared, recorded: Recorded) -> Checked:
    """Judge a request as the webhook would now: its place is the line of the recording."""
    request = recorded.request
    resource = Resource(request.kind.api_version, request.kind.kind, request.namespace, request.display_name)
    source = Source(recorded.file, line=recorded.line, column=1)
    user = request.user.username if request.user else ""
    asked = Asked(request.operation, user, recorded.time, recorded.allowed)

    def result(finding: Finding, silenced: Silenced | None) -> Result:
        return Result(finding, resource, source, silenced, asked=asked)

    found = at_one_place(source, resource, request, review(prepared.policies, request, prepared.context), result)
    return replace(found, patches=tuple(replace(one, asked=asked) for one in found.patches)) if found.patches else found


def compare(before: Prepared, after: Prepared, recorded: Recorded) -> Previewed:
    """Judge a request twice, and tell what differs."""
    return differing(judge(before, recorded), judge(after, recorded))


class Repeats(Generic[Item]):
    """Keeps what is new, and counts what is not: a controller asks for the same thing over and over.

    `left_out` counts what there was no room for.
    """

    def __init__(self, most: int) -> None:
        """Keep `most` findings, patches or differences."""
        self.left_out = 0
        self._most = most
        self._times: dict[Hashable, int] = {}
        self._first: dict[Hashable, Item] = {}

    def add(self, item: Item) -> None:
        """Take what one request came to."""
        for key, part in _parts(item):
            if key in self._times:
                self._times[key] += 1
            elif len(self._times) < self._most:
                self._times[key], self._first[key] = 1, part
            else:
                self.left_out += 1

    def __iter__(self) -> Iterator[Item]:
        """Give each with the number of times, in the order in which they came up."""
        for key, item in self._first.items():
            yield _counted(item, self._times[key])


def _parts(item: Item) -> Iterator[tuple[Hashable, Item]]:
    """Take apart what there is to say about one request."""
    if isinstance(item, Previewed):
        for one in item.differences:
            yield (one.turn, _key(one.about)), replace(item, differences=(one,))
        return
    for result in item.results:
        yield _key(result), replace(item, results=(result,), patches=())
    for patch in item.patches:
        yield _key(patch), replace(item, results=(), patches=(patch,))


def _key(about: Result | Patch) -> Hashable:
    """Name what is the same when it comes again."""
    who = (about.resource, about.asked and (about.asked.operation, about.asked.user))
    if isinstance(about, Patch):
        return who, about.change.policy.name, about.change.message
    finding = about.finding
    return who, finding.policy.name, finding.rule, finding.field, finding.message, finding.outcome


def _counted(item: Item, times: int) -> Item:
    if isinstance(item, Previewed):
        return replace(
            item, differences=tuple(Difference(one.turn, _told(one.about, times)) for one in item.differences)
        )
    results = tuple(_told(one, times) for one in item.results)
    return replace(item, results=results, patches=tuple(_told(one, times) for one in item.patches))


def _told(about: About, times: int) -> About:
    return replace(about, asked=replace(about.asked, times=times)) if about.asked else about
