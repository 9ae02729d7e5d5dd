"""The walk over all expressions of a policy, each with what is known where it is evaluated.

Everything that checks want to know is collected in one go: they look through what was met.
"""

from __future__ import annotations

from webhook.runs.lint.expression import Expression
from webhook.runs.lint.facts import NOTHING, Facts, Guards, lasting
from webhook.runs.lint.met import Met
from webhook.runs.lint.shape import Shape
from webhook.runs.lint.subject import Part, Subject


def walk_policy(subject: Subject) -> Met:
    """Walk over every expression of a policy."""
    return _Walk(subject).all()


class _Walk:
    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.met = Met()
        self.guards: dict[str, Guards] = {}
        self.sites: dict[str, Facts] = {}
        self.shapes: dict[str, Shape] = {}
        for name in subject.parts:
            self.guards.setdefault(name, Guards(name, subject.trees, self.guards))

    def all(self) -> Met:
        """Walk over conditions, rules and, with what holds wherever they are read, variables."""
        parts = list(self.subject.parts.values())
        conditions = [part for part in parts if part.role == "condition"]
        held = {part.name: self._held(part, True) for part in conditions}
        for part in conditions:
            self._visit(part, NOTHING.union(*(held[name] for name in held if name != part.name)))
        known = NOTHING.union(*map(lasting, held.values()))
        for part in parts:
            if part.role not in ("condition", "lookup", "variables"):
                self._visit(part, known | self._of_rule(part))
        for part in [*reversed([part for part in parts if part.role == "variables"]), *_of_lookups(parts)]:
            self._visit(part, known | self.sites.get(part.name, NOTHING))
        return self.met

    def implied(self, facts: Facts) -> Facts:
        """Give what the match conditions say where these facts rule sides of them out."""
        conditions = (part for part in self.subject.parts.values() if part.role == "condition")
        return NOTHING.union(*(self.guards[one.name].implied(one.tree.root, facts) for one in conditions))

    def shape_of(self, name: str) -> Shape:
        """Give the shape of a variable, or of what a `forEach` goes through."""
        if name not in self.shapes:
            self.shapes[name] = Expression(_Silent(self), self.subject.parts[name]).walk(
                self.subject.trees[name].root, NOTHING
            )
        return self.shapes[name]

    def _held(self, part: Part, truth: bool) -> Facts:
        return self.guards[part.name].holds(part.tree.root, truth)

    def _of_rule(self, part: Part) -> Facts:
        """Give what is known besides where a part of a rule is evaluated: messages and fixes, where it is broken."""
        rule = ".".join(part.name.split(".")[:2])
        if part.role != "validation" or part.last == "each":
            return NOTHING
        each = self.subject.parts.get(f"{rule}.each")
        known = self.guards[each.name].there(each.tree.root) if each else NOTHING
        return lasting(known if part.name == rule else known | self._held(self.subject.parts[rule], False))

    def _visit(self, part: Part, facts: Facts) -> None:
        Expression(self, part).walk(part.tree.root, facts)


def _of_lookups(parts: list[Part]) -> list[Part]:
    return [part for part in parts if part.role == "lookup"]


class _Silent(_Walk):
    """Walks for a shape alone: what it meets is not collected."""

    def __init__(self, walk: _Walk) -> None:
        self.subject = walk.subject
        self.guards = walk.guards
        self.met = Met()
        self.sites = {}
        self.shapes = walk.shapes
