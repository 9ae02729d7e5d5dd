"""What two policies do to the same objects: the same change, or the same rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Final

from webhook.cel.fingerprint import fingerprint
from webhook.cel.tree import Const, MapNode, Node, walk
from webhook.model.diagnosis import Level
from webhook.model.lint import Check, Finding
from webhook.model.path import render, unpoint
from webhook.runs.lint.subject import Part, Subject, finding

CHANGE: Final = Check(
    "overlapping-mutations",
    Level.WARNING,
    "two policies that change the same place of the same objects",
    "the last one wins, and which that is depends on their names",
)
RULE: Final = Check(
    "duplicate-rule",
    Level.WARNING,
    "the same rule twice for the same objects",
    "people read the same finding twice, and who mends one rule forgets the other",
)

_Place = tuple[str, ...]


def check(subjects: Iterable[Subject]) -> Iterator[Finding]:
    """Find the rules and changes that two policies, or one of them twice, have for the same kinds."""
    every = list(subjects)
    rules = [(subject, part, _identity(subject, part)) for subject in every for part in _rules(subject)]
    for (first, before, one), (second, part, other) in combinations(rules, 2):
        if one == other and _meet(first, second):
            where = f"`{first.policy.name}`" if first is not second else f"`{before.name}`"
            message = (
                f"the same rule stands in {where}, {before.expression.location.file}:{before.expression.location.line}"
            )
            yield finding(RULE, second, part, part.tree.root, message, "keep one of them")
    changes = [(subject, *change) for subject in every for change in _changes(subject)]
    for (first, _, _, one), (second, part, node, other) in combinations(changes, 2):
        if first is not second and one == other and _meet(first, second):
            message = f"`{first.policy.name}` changes `{render(other)}`, too"
            yield finding(
                CHANGE, second, part, node, message, "let one policy make the change, or have their kinds differ"
            )


def _rules(subject: Subject) -> Iterator[Part]:
    return (part for part in subject.parts.values() if part.role == "validation" and part.last.isdigit())


def _identity(subject: Subject, rule: Part) -> tuple[str, ...]:
    """Give what makes a rule what it is: its expression and what it goes through, and the conditions before it."""
    names: dict[str, str] = {}
    for name, part in subject.parts.items():
        if part.role == "variables":
            names[name] = fingerprint(part.tree.root, names)
    for lookup in subject.policy.lookups:
        names[f"lookups.{lookup.name}"] = repr(
            (lookup.api_version, lookup.kind, lookup.object_name.literal, lookup.name)
        )
    conditions = sorted(
        fingerprint(part.tree.root, names) for part in subject.parts.values() if part.role == "condition"
    )
    each = subject.parts.get(f"{rule.name}.each")
    return (
        fingerprint(rule.tree.root, names),
        fingerprint(each.tree.root, names) if each else "",
        *conditions,
    )


def _meet(one: Subject, other: Subject) -> bool:
    """Can an object be a matter for both."""
    if one is other:
        return True
    releases = one.universe.releases
    together = [
        each
        for each in releases
        if all(not subject.policy.releases or each in subject.policy.releases for subject in (one, other))
    ]
    return bool(together) and bool(set(one.matched.kinds) & set(other.matched.kinds))


def _changes(subject: Subject) -> Iterator[tuple[Part, Node, _Place]]:
    """Give the places that mutations change, as far as they are written out."""
    for part in subject.parts.values():
        if part.role != "mutation" or not part.last.isdigit():
            continue
        for node in walk(part.tree.root):
            if isinstance(node, MapNode) and node.structure == "JSONPatch":
                for entry in node.entries:
                    match entry.key, entry.value:
                        case Const(value="path"), Const(value=str(place)):
                            yield part, node, unpoint(place)
        if isinstance(part.tree.root, MapNode) and part.tree.root.structure == "Object":
            yield from ((part, node, place) for node, place in _leaves(part.tree.root, ()))


def _leaves(node: Node, place: _Place) -> Iterator[tuple[Node, _Place]]:
    """Give the fields that an `Object{…}` sets."""
    if not isinstance(node, MapNode):
        yield node, place
        return
    for entry in node.entries:
        if isinstance(entry.key, Const):
            yield from _leaves(entry.value, (*place, str(entry.key.value)))
