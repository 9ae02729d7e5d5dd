"""An upgrade, previewed: every object through the same pipeline for two releases, and what differs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import IntEnum

from webhook.errors import DocumentError
from webhook.model.decision import Outcome
from webhook.model.path import Path
from webhook.model.preview import Difference, Previewed, Turn
from webhook.model.release import Minor
from webhook.model.result import Checked, Result
from webhook.runs.inputs import Piece
from webhook.runs.scan import Found, Prepared, judge, over
from webhook.sources import catalog
from webhook.sources.files import Skipped

Compared = Previewed | Skipped | DocumentError


class _Weight(IntEnum):
    """How much a finding stands in the way."""

    NONE = 0
    NOT_CHECKED = 1
    WARNED = 2
    REFUSED = 3


_TURNS = {_Weight.REFUSED: Turn.DENIED, _Weight.WARNED: Turn.WARNED, _Weight.NOT_CHECKED: Turn.NOT_CHECKED}
_Key = tuple[str, str, Path]


def upgraded(prepared: Prepared, to: Minor) -> Prepared:
    """Give the same run for the release that an upgrade leads to. Raises UsageError for one that is not known."""
    release, warning = catalog.upgraded(prepared.context.release, to)
    notices = (DocumentError("release", message=warning),) if warning else ()
    context = replace(prepared.context, release=release)
    setup = replace(prepared.setup, release=str(release.version))
    return replace(prepared, context=context, setup=setup, notices=notices)


def preview(before: Prepared, after: Prepared) -> Iterator[Compared]:
    """Judge every object twice, in the order of the input."""

    def both(piece: Piece) -> Iterator[Compared]:
        for old, new in zip(judge(before, piece), judge(after, piece), strict=True):
            yield compared(old, new)

    return over(after, both)


def compared(old: Found, new: Found) -> Compared:
    """Compare what two releases say of one object; what is no object is the same for both."""
    if not isinstance(old, Checked) or not isinstance(new, Checked):
        return new if not isinstance(new, Checked) else Previewed(new.resource)
    return differing(old, new)


def differing(old: Checked, new: Checked) -> Previewed:
    """Tell what of one object's findings differs."""
    return Previewed(new.resource, tuple(_differences(old, new)), new.remarks)


def _differences(old: Checked, new: Checked) -> Iterator[Difference]:
    before, after = _weights(old), _weights(new)
    for result in new.results:
        weight = _weight(result)
        if weight > before.get(_key(result), _Weight.NONE):
            yield Difference(_TURNS[weight], result)
    for result in old.results:
        now = after.get(_key(result), _Weight.NONE)
        if _weight(result) is _Weight.REFUSED and now < _Weight.REFUSED:
            yield Difference(Turn.ALLOWED, result)
        elif _weight(result) is _Weight.WARNED and now is _Weight.NONE:
            yield Difference(Turn.SETTLED, result)
    known = [(patch.change.policy.name, patch.change.operations) for patch in old.patches]
    for patch in new.patches:
        if (patch.change.policy.name, patch.change.operations) not in known:
            yield Difference(Turn.PATCHED, patch)


def _weights(checked: Checked) -> dict[_Key, _Weight]:
    weights: dict[_Key, _Weight] = {}
    for result in checked.results:
        weights[_key(result)] = max(_weight(result), weights.get(_key(result), _Weight.NONE))
    return weights


def _key(result: Result) -> _Key:
    """Name a finding by rule and place: its words may name the release, and are no difference."""
    finding = result.finding
    return finding.policy.name, finding.rule, finding.field


def _weight(result: Result) -> _Weight:
    if result.refuses:
        return _Weight.REFUSED
    if result.silenced:
        return _Weight.NONE
    weights = {Outcome.WARN: _Weight.WARNED, Outcome.SKIP: _Weight.NOT_CHECKED}
    return weights.get(result.finding.outcome, _Weight.NONE)
