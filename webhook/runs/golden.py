"""`test --update`: expectations that no longer hold, written anew as things are now, in the text of their suites.

Only words and values are: whether a case is denied is for a person to decide, and a regular expression stays.
"""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any, Final

from webhook.errors import DocumentError
from webhook.model.path import Path, walk
from webhook.model.result import Edit
from webhook.model.suite import Case, CaseResult, Difference, SuiteResult
from webhook.sources import yaml
from webhook.sources.yaml import Document, Source
from webhook.sources.yaml.page import Refused
from webhook.sources.yaml.revise import replaced, revise

_KEYS: Final = {"field", "message", "reason", "patch", "patched", "warnings"}
_ANNOTATION: Final = "audit annotation "

_Spot = tuple[int, int]
"""Line and column of a case's name, before anything is written."""
_Place = tuple[int, int]
"""A case's document and its index in it, which stay when the text grows."""


@dataclass(slots=True)
class Updated:
    """The contents of the suites that change, and of every expectation what was done, or why nothing was."""

    contents: dict[str, bytes] = field(default_factory=dict)
    made: list[DocumentError] = field(default_factory=list)
    refused: list[DocumentError] = field(default_factory=list)


def update(results: Iterable[SuiteResult]) -> Updated:
    """Write expectations anew; nothing is written to disk here. Raises UsageError for a suite that has changed."""
    updated, failed = Updated(), defaultdict[str, list[CaseResult]](list)
    for suite in results:
        failed[suite.suite.file] += [case for case in suite.results if case.differences]
    for file, cases in failed.items():
        if cases:
            _file(file, cases, updated)
    return updated


def _file(file: str, cases: Sequence[CaseResult], updated: Updated) -> None:
    data, revised, found = FilePath(file).read_bytes(), list[tuple[Source, Source]](), set[_Spot]()
    for source in yaml.split(io.BytesIO(data), file):
        if isinstance(source, Source):
            places = dict(_places(source))
            found |= places.keys()
            if (after := _source(source, places, cases, updated)) != source:
                revised.append((source, after))
    if revised:
        updated.contents[file] = replaced(data, revised)
    others = (one.case for one in cases if _spot(one.case) not in found)
    updated.refused += (_told(case, "only suites of kind PolicyTest are updated") for case in others)


def _source(source: Source, places: Mapping[_Spot, _Place], cases: Sequence[CaseResult], updated: Updated) -> Source:
    for one in cases:
        if place := places.get(_spot(one.case)):
            for difference in one.differences:
                source = _revised(source, place, one.case, difference, updated)
    return source


def _places(source: Source) -> Iterator[tuple[_Spot, _Place]]:
    for document in _documents(source):
        cases = document.value.get("cases") if isinstance(document.value, dict) else None
        for index in range(len(cases) if isinstance(cases, list) else 0):
            at = document.locate(("cases", index, "name"))
            yield (at.line, at.column), (document.index, index)


def _spot(case: Case) -> _Spot:
    return case.location.line, case.location.column


def _told(case: Case, message: str) -> DocumentError:
    at = case.location
    return DocumentError(at.file, at.line, at.column, message=f"{case.name}: {message}")


def _revised(source: Source, place: _Place, case: Case, difference: Difference, updated: Updated) -> Source:
    """Write one expectation anew."""
    (document,) = (one for one in _documents(source) if one.index == place[0])
    try:
        steps, value = _wanted(difference)
        path: Path = ("cases", place[1], "expect", *steps)
        wanted = deepcopy(document.value)
        _, parent = walk(wanted, path[:-1])
        edit = Edit(path, (parent[path[-1]],), (value,))
        parent[path[-1]] = value
        source = revise(source, document, [edit], wanted)
    except Refused as reason:
        updated.refused.append(_told(case, f"{difference.what}: {reason}"))
    else:
        updated.made.append(_told(case, difference.what))
    return source


def _documents(source: Source) -> Iterator[Document]:
    return (one for one in yaml.parse(source) if isinstance(one, Document))


def _wanted(difference: Difference) -> tuple[tuple[str, ...], Any]:
    """Give the place below `expect`, and what is to stand there. Raises Refused."""
    what, want, got = difference.what, difference.want, difference.got
    if got is None:
        raise Refused("there is none any more")
    if what.startswith(_ANNOTATION):
        return ("auditAnnotations", what.removeprefix(_ANNOTATION)), got
    if what not in _KEYS or (what == "patch" and isinstance(got, str)):
        raise Refused("it is for you to say what is right")
    if what == "message" and want.startswith("/") and want.endswith("/"):
        raise Refused("a regular expression stays as it is")
    return (what,), got
