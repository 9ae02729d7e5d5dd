"""All checks of the doctor, over the objects at hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime

from webhook.errors import DocumentError, DocumentErrors
from webhook.model.diagnosis import Diagnosis, Examination
from webhook.runs.doctor.answering import answering
from webhook.runs.doctor.breadth import breadth
from webhook.runs.doctor.certificates import certificates
from webhook.runs.doctor.inventory import Held, Inventory, Registered
from webhook.runs.doctor.lockout import lockouts
from webhook.runs.doctor.question import Question
from webhook.runs.doctor.settings import settings, waiting_in_line
from webhook.sources.files import Skipped
from webhook.sources.manifests import read


def examine_files(paths: Iterable[str], now: datetime) -> Examination:
    """Examine the objects of files, folders and standard input."""
    held: list[Held] = []
    faults: list[DocumentError] = []
    passed_over: list[DocumentError] = []
    for each in read(paths):
        match each:
            case DocumentError():
                faults.append(each)
            case Skipped():
                passed_over.append(each.note)
            case _:
                held.append(Held(each.object, each))
    found = examine(Inventory(held), now)
    return replace(found, faults=(*faults, *found.faults), passed_over=tuple(passed_over))


def examine(inventory: Inventory, now: datetime) -> Examination:
    """Run every check. Never raises for what objects hold."""
    asked: list[tuple[Registered, Question]] = []
    faults: list[DocumentError] = []
    for each in inventory.registered():
        if isinstance(each, DocumentErrors):
            faults += each
        else:
            asked.append((each, Question(each.webhook, inventory.cluster)))
    found = [one for registered, question in asked for one in _checks(registered, question, inventory, now)]
    found += waiting_in_line(asked)
    found += answering([registered for registered, _ in asked], inventory)
    unknown = tuple(sorted(inventory.unknown))
    return Examination(len(asked), in_order(found), tuple(sorted(faults)), unknown=unknown)


def in_order(found: Iterable[Diagnosis]) -> tuple[Diagnosis, ...]:
    """Sort findings: the worst first, then by object and place."""
    return tuple(sorted(found, key=lambda one: (one.level.rank, one.resource, one.source.file, one.source.line)))


def _checks(registered: Registered, question: Question, inventory: Inventory, now: datetime) -> Iterator[Diagnosis]:
    yield from lockouts(registered, question, inventory)
    yield from breadth(registered, question)
    yield from settings(registered, question)
    yield from certificates(registered, inventory, now)
