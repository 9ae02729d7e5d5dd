"""What an audit keeps: only what there is to say, so much of it at most, and in an order of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from webhook.model.decision import Outcome
from webhook.model.preview import Previewed
from webhook.model.result import Checked, Result

Item = TypeVar("Item", Checked, Previewed)


class Kept(Generic[Item]):
    """Keeps objects until the end, which gives them in the order of their names; they come in no order."""

    def __init__(self, most: int) -> None:
        """Keep `most` findings; `left_out` counts the others."""
        self.left_out = 0
        self._room = most
        self._items: list[Item] = []

    def add(self, item: Item, findings: int) -> None:
        """Keep an object with so many findings; one without any is forgotten."""
        if findings > self._room:
            self.left_out += findings
        elif findings:
            self._room -= findings
            self._items.append(item)

    def __iter__(self) -> Iterator[Item]:
        return iter(sorted(self._items, key=lambda item: item.resource))


@dataclass(slots=True)
class _Rule:
    """A rule that could not be evaluated: the first object by name of which this is so, and how many there are."""

    example: Result
    objects: int = 0


class Unchecked:
    """Tells of each rule that could not be evaluated once. What is not known, above all the user, no object tells."""

    def __init__(self) -> None:
        """Nothing so far."""
        self._rules: dict[tuple[str, str], _Rule] = {}

    def take_from(self, checked: Checked) -> Checked:
        """Take these results out of one object's."""
        known = []
        for result in checked.results:
            if result.finding.outcome is Outcome.SKIP:
                self._count(result)
            else:
                known.append(result)
        return replace(checked, results=tuple(known))

    def _count(self, result: Result) -> None:
        rule = self._rules.setdefault((result.finding.policy.name, result.finding.rule), _Rule(result))
        rule.example = min(rule.example, result, key=lambda one: one.resource)
        rule.objects += 1

    def __iter__(self) -> Iterator[Checked]:
        for _, rule in sorted(self._rules.items()):
            yield Checked(rule.example.resource, (_for_all(rule),), file=rule.example.source.file)


def _for_all(rule: _Rule) -> Result:
    if rule.objects == 1:
        return rule.example
    finding = rule.example.finding
    others = "1 other object" if rule.objects == 2 else f"{rule.objects - 1} other objects"
    return replace(rule.example, finding=replace(finding, message=f"{finding.message}; nor for {others}"))
