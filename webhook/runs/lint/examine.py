"""Policies → what lint finds in them, where it is written, without what is silenced there with a reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Final

from webhook.engine.compile import CompiledPolicy
from webhook.errors import DocumentError, DocumentErrors
from webhook.model.lint import Check, Finding, Linted
from webhook.model.path import Path, parse
from webhook.model.policy import Location
from webhook.model.release import Minor
from webhook.model.request import Object
from webhook.model.result import Silenced
from webhook.runs import silence
from webhook.runs.lint import fields, guards, loops, messages, overlap, reach, unused, versions
from webhook.runs.lint.kinds import Universe
from webhook.runs.lint.met import Met
from webhook.runs.lint.subject import Subject
from webhook.runs.lint.walk import walk_policy
from webhook.sources import yaml
from webhook.sources.lists import unfold
from webhook.sources.schemas import Given
from webhook.sources.yaml import Document

_OF_ONE: Final[tuple[Callable[[Subject, Met], Iterator[Finding]], ...]] = (
    fields.check,
    guards.check,
    loops.check,
    reach.check,
    messages.check,
    unused.check,
)

CHECKS: Final[tuple[Check, ...]] = (
    *(fields.UNKNOWN, fields.WRONG, fields.PERHAPS, fields.VALUE),
    *(guards.MISSING, guards.HAS, guards.OBJECT, guards.NAMESPACE, guards.OUTSIDE, guards.MESSAGE),
    *(loops.KEY, loops.COSTLY),
    *(reach.CONSTANT, reach.RELEASES, reach.RESOURCES),
    *(overlap.CHANGE, overlap.RULE),
    *(messages.LONG, messages.ELSEWHERE),
    *(unused.VARIABLE, unused.LOOKUP, unused.PARAMS),
    versions.NEWER,
)
"""Every check, in the order of the documentation."""


def lint(
    policies: Sequence[CompiledPolicy],
    faults: tuple[DocumentError, ...] = (),
    given: Given | None = None,
    kubernetes: Minor | None = None,
) -> Linted:
    """Look at policies. `faults` are of others; `given` are schemas besides ours, `kubernetes` is what has to do."""
    universe = Universe(given)
    once = {one.policy.location: one for one in reversed(policies)}  # a native policy is there once for each binding
    subjects = [Subject(one, universe) for one in reversed(once.values())]
    found: list[Finding] = []
    for subject in subjects:
        met = walk_policy(subject)
        for check in _OF_ONE:
            found += check(subject, met)
        found += versions.newer(subject, kubernetes)
    found += overlap.check(subjects)
    files = _Files({one.policy.name: one.policy.location for one in policies})
    placed = [files.placed(one) for one in dict.fromkeys(found)]
    return Linted(
        len(subjects),
        tuple(sorted(placed, key=lambda one: (one.at.file, one.at.line, one.at.column, one.check.code))),
        tuple(map(versions.requirement, subjects)),
        faults,
        tuple(dict.fromkeys(files.remarks)),
    )


class _Files:
    """The files of policies, read again for what is found in them: lines to show, and wishes to silence.

    `policies` says where the name of each policy is written.
    """

    def __init__(self, policies: Mapping[str, Location]) -> None:
        self.remarks: list[DocumentError] = []
        self._policies = policies
        self._documents: dict[str, tuple[Document, ...]] = {}

    def placed(self, found: Finding) -> Finding:
        """Give a finding its place and its line, and say why it does not count, if it is silenced."""
        if (written := self._written(found.policy)) is None:
            return found
        document, prefix, obj = written
        path = (*prefix, *parse(found.at.path))
        if not found.at.line:
            at = document.locate(path)
            found = replace(found, at=replace(found.at, line=at.line, column=at.column), length=at.length)
        entry = document.locate((*prefix, *_entry(parse(found.at.path)))).line
        excerpt = document.source(found.at.line)
        return replace(found, excerpt=excerpt, silenced=self._silenced(found, document, entry, obj))

    def _silenced(self, found: Finding, document: Document, entry: int, obj: Object) -> Silenced | None:
        """Look for a wish about the policy, or about the entry that the finding is in, which begins on this line."""
        for wish in (*silence.annotated(obj), *silence.commented(document)):
            if wish.policy != found.check.code or not (wish.line == 0 or entry <= wish.line <= found.at.line):
                continue
            if wish.reason:
                return Silenced(wish.by, wish.reason)
            line = wish.line or document.locate(silence.ANNOTATION_PATH).line
            self.remarks.append(DocumentError(found.at.file, line, 1, "", silence.unreasoned(wish)))
        return None

    def _written(self, policy: str) -> tuple[Document, Path, Object] | None:
        """Find the document of a policy, the way to it in there, and the policy as an object."""
        name = self._policies[policy]
        for document in self._read(name.file):
            for prefix, obj in unfold(document.value):
                if document.locate((*prefix, "metadata", "name")).line == name.line:
                    return document, prefix, obj
        return None

    def _read(self, file: str) -> tuple[Document, ...]:
        if file not in self._documents:
            self._documents[file] = ()
            with suppress(OSError, DocumentErrors):  # it was read a moment ago, and is shown no worse than without
                self._documents[file] = yaml.read(FilePath(file).read_bytes(), file)
        return self._documents[file]


def _entry(path: Path) -> Path:
    """Give the way to the entry of a list that a field is in: the rule, the variable; else to the field itself."""
    index = next((at for at, step in enumerate(path) if isinstance(step, int)), len(path) - 1)
    return path[: index + 1]
