"""`test --update`: expectations that no longer hold, written anew as things are now, in the text of their suites.

Only words and values are: whether a case is denied is for a person to decide, and a regular expression stays.
"""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
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
    data, revised = FilePath(file).read_bytes(), list[tuple[Source, Source]]()
    for source in yaml.split(io.BytesIO(data), file):
        if isinstance(source, Source) and (after := _source(source, cases, updated)) != source:
            revised.append((source, after))
    if revised:
        updated.contents[file] = replaced(data, revised)


def _source(source: Source, cases: Sequence[CaseResult], updated: Updated) -> Source:
    places = dict(_places(source))
    for one in cases:
        if place := places.get(one.case.location.line):
            for difference in one.differences:
                source = _revised(source, place, one.case, difference, updated)
    return source


def _places(source: Source) -> Iterator[tuple[int, tuple[int, int]]]:
    """Give the line of each case's name, its document and its index: the latter two stay when the text grows."""
    for document in _documents(source):
        cases = document.value.get("cases") if isinstance(document.value, dict) else None
        for index in range(len(cases) if isinstance(cases, list) else 0):
            yield document.locate(("cases", index, "name")).line, (document.index, index)


def _revised(source: Source, place: tuple[int, int], case: Case, difference: Difference, updated: Updated) -> Source:
    """Write one expectation anew."""
    (document,) = (one for one in _documents(source) if one.index == place[0])
    at = case.location

    def tell(message: str) -> DocumentError:
        return DocumentError(at.file, at.line, at.column, message=f"{case.name}: {message}")

    try:
        steps, value = _wanted(difference)
        path: Path = ("cases", place[1], "expect", *steps)
        wanted = deepcopy(document.value)
        _, parent = walk(wanted, path[:-1])
        edit = Edit(path, (parent[path[-1]],), (value,))
        parent[path[-1]] = value
        source = revise(source, document, [edit], wanted)
    except Refused as reason:
        updated.refused.append(tell(f"{difference.what}: {reason}"))
    else:
        updated.made.append(tell(difference.what))
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
