"""`check --fix`: the mechanical fixes of findings, written into the documents that have them.

A document is judged, mended and judged again until nothing more can be mended; nothing is written to disk here.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from pathlib import Path as FilePath
from typing import Final

from webhook.model.decision import Outcome
from webhook.model.result import Checked, Result
from webhook.runs import mending
from webhook.runs.baseline import Baseline
from webhook.runs.inputs import Piece
from webhook.runs.scan import Prepared, ScanRequest, decide, over, prepare
from webhook.sources.files import STDIN
from webhook.sources.manifests import STDIN_NAME, Manifest, manifests
from webhook.sources.yaml import Source
from webhook.sources.yaml.page import Refused
from webhook.sources.yaml.revise import replaced

_ROUNDS: Final = 10
"""How often everything is mended and judged again: a fix in one file can call for one in another."""

_MOST: Final = 500
"""Fixes that are tried on one object in a round."""


@dataclass(frozen=True, slots=True)
class Fix:
    """One fix that was made, or could not be: `refused` says why, and is "" otherwise."""

    result: Result
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Revision:
    """One document before and after, and the fixes that were tried on it."""

    before: Source
    after: Source
    fixes: tuple[Fix, ...]


@dataclass(slots=True)
class Mended:
    """What all fixes together came to: the contents of the files that change, before and after, and each fix.

    Standard input is among them whether it changes or not.
    """

    before: dict[str, bytes] = field(default_factory=dict)
    contents: dict[str, bytes] = field(default_factory=dict)
    fixes: list[Fix] = field(default_factory=list)


def mend(request: ScanRequest, baseline: Baseline) -> tuple[Prepared, Mended]:
    """Mend everything that a request names, as often as it takes; gives the run that judges what is left.

    A fix in one file can change what holds of another, so all are judged again after each round. Raises as `prepare`.
    """
    mended = Mended()
    if STDIN in request.paths:
        mended.contents[STDIN_NAME] = mended.before[STDIN_NAME] = sys.stdin.buffer.read()
    refused: list[Fix] = []
    for _ in range(_ROUNDS):
        prepared = prepare(replace(request, contents=dict(mended.contents)))
        revisions = list(over(prepared, partial(_revisions, prepared, baseline, mended.fixes)))
        refused = [fix for each in revisions for fix in each.fixes if fix.refused]
        mended.fixes += [fix for each in revisions for fix in each.fixes if not fix.refused]
        changed = [each for each in revisions if each.after != each.before]
        if not changed:
            break
        for file, group in groupby(changed, lambda each: each.before.file):
            _take(mended, file, [(each.before, each.after) for each in group])
    else:
        prepared = prepare(replace(request, contents=mended.contents))
    mended.fixes += refused
    return prepared, mended


def _take(mended: Mended, file: str, revised: Sequence[tuple[Source, Source]]) -> None:
    """Put the documents of one file that changed into its contents."""
    if file not in mended.contents:
        mended.contents[file] = mended.before[file] = FilePath(file).read_bytes()
    mended.contents[file] = replaced(mended.contents[file], revised)


def _revisions(prepared: Prepared, baseline: Baseline, done: Sequence[Fix], piece: Piece) -> Iterator[Revision]:
    """Mend one document, object by object."""
    if not isinstance(piece, Source):
        return
    source, fixes = piece, list[Fix]()
    for number, manifest in enumerate(_objects(source)):
        name = (manifest.object.get("metadata") or {}).get("name")
        earlier = [fix for fix in done if fix.result.source.file == piece.file and fix.result.resource.name == name]
        source, tried = _Object(prepared, baseline, number, earlier).mended(source)
        fixes += tried
    if fixes:
        yield Revision(piece, source, tuple(fixes))


def _objects(source: Source) -> list[Manifest]:
    return [each for each in manifests(source) if isinstance(each, Manifest)]


class _Object:
    """One object of a document, and what has been tried on it."""

    def __init__(self, prepared: Prepared, baseline: Baseline, number: int, done: Iterable[Fix]) -> None:
        self._prepared = prepared
        self._baseline = baseline
        self._number = number
        self._mended = [_rule(fix.result) for fix in done]
        self._tried: set[str] = set()

    def mended(self, source: Source) -> tuple[Source, list[Fix]]:
        """Mend one finding after the other, the most severe first, until none has a fix that was not tried."""
        fixes: list[Fix] = []
        results = self._judge(source)
        for _ in range(_MOST):
            result = next((each for each in results if each.fixable and _key(each) not in self._tried), None)
            if result is None:
                break
            self._tried.add(_key(result))
            try:
                manifest = _objects(source)[self._number]
                revised = mending.mended(source, manifest, result.finding.fix.patch)
                after = self._judge(revised)
                self._check(result, results, after)
            except Refused as refused:
                fixes.append(Fix(result, str(refused)))
            else:
                source, results = revised, after
                self._mended.append(_rule(result))
                fixes.append(Fix(result))
        return source, fixes

    def _judge(self, source: Source) -> Sequence[Result]:
        checked = decide(self._prepared, _objects(source)[self._number])
        return self._baseline.apply(checked).results if isinstance(checked, Checked) else ()

    def _check(self, result: Result, before: Sequence[Result], after: Sequence[Result]) -> None:
        """Refuse a fix that helps nothing, or breaks what holds: two policies can want opposite things."""
        old, new = _counts(before), _counts(after)
        rule = _rule(result)
        if new[rule] >= old[rule] and any(_key(each) == _key(result) for each in after):
            raise Refused("the finding would stay")
        refusals = Counter(_rule(each) for each in after if each.refuses)
        refusals.subtract(_rule(each) for each in before if each.refuses)
        broken = [name for name in (*refusals, *self._mended) if refusals[name] > 0 or new[name] > old[name]]
        if broken:
            raise Refused(f"`{broken[0][0]}` would not hold any more")


def _rule(result: Result) -> tuple[str, str]:
    return result.finding.policy.name, result.finding.rule


def _key(result: Result) -> str:
    finding = result.finding
    return json.dumps([*_rule(result), finding.message, list(finding.field), list(finding.fix.patch)], sort_keys=True)


def _counts(results: Sequence[Result]) -> Counter[tuple[str, str]]:
    """Count the findings that count, rule by rule."""
    speaking = {Outcome.DENY, Outcome.ERROR, Outcome.WARN}
    return Counter(_rule(each) for each in results if each.finding.outcome in speaking and not each.silenced)
