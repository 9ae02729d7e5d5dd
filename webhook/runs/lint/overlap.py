"""What two policies do to the same objects: the same change, or the same rule."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from webhook.cel.fingerprint import fingerprint
from webhook.engine.compile import lookup_key
from webhook.model.diagnosis import Level
from webhook.model.lint import Check, Finding
from webhook.model.path import render
from webhook.runs.lint.patches import Place, changes
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


def check(subjects: Iterable[Subject]) -> Iterator[Finding]:
    """Find the rules and changes that two policies, or one of them twice, have for the same kinds."""
    rules: dict[tuple[str, ...], list[tuple[Subject, Part]]] = defaultdict(list)
    changers: dict[Place, list[Subject]] = defaultdict(list)
    for subject in subjects:
        names = _names(subject)
        for part in _rules(subject):
            known = rules[_identity(subject, part, names)]
            if before := next((one for one in known if _meet(one[0], subject)), None):
                yield _duplicate(subject, part, *before)
            known.append((subject, part))
        for part in _mutations(subject):
            yield from _overlapping(subject, part, changers)


def _overlapping(subject: Subject, part: Part, changers: dict[Place, list[Subject]]) -> Iterator[Finding]:
    for change in changes(part):
        if not change.whole:
            continue
        others = changers[change.place]
        if other := next((one for one in others if one is not subject and _meet(one, subject)), None):
            message = f"`{other.policy.name}` changes `{render(change.place)}`, too"
            fix = "let one policy make the change, or have their kinds differ"
            yield finding(CHANGE, subject, part, change.node, message, fix)
        others.append(subject)


def _duplicate(subject: Subject, part: Part, first: Subject, before: Part) -> Finding:
    at = before.expression.location
    where = f"rule {before.last}" if first is subject else f"`{first.policy.name}`"
    message = f"the same rule stands in {where}, {at.file}:{at.line}"
    return finding(RULE, subject, part, part.tree.root, message, "keep one of them")


def _rules(subject: Subject) -> Iterator[Part]:
    return (part for part in subject.parts.values() if part.role == "validation" and part.last.isdigit())


def _mutations(subject: Subject) -> Iterator[Part]:
    return (part for part in subject.parts.values() if part.role == "mutation" and part.last.isdigit())


def _names(subject: Subject) -> dict[str, str]:
    """Give the fingerprints of variables and lookups, so that rules are compared by what they come to."""
    policy = subject.policy
    names = {f"lookups.{lookup.name}": lookup_key(policy, lookup) for lookup in policy.lookups}
    for name, part in subject.parts.items():
        if part.role == "variables":
            names[name] = fingerprint(part.tree.root, names)
    return names


def _identity(subject: Subject, rule: Part, names: dict[str, str]) -> tuple[str, ...]:
    """Give what makes a rule what it is: its expression, what it goes through, and the conditions before it."""
    each = subject.parts.get(f"{rule.name}.each")
    conditions = (part for part in subject.parts.values() if part.role == "condition")
    return (
        fingerprint(rule.tree.root, names),
        fingerprint(each.tree.root, names) if each else "",
        *sorted(fingerprint(part.tree.root, names) for part in conditions),
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
