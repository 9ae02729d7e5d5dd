"""One policy as lint looks at it: its expressions, the trees of these, and what it is about."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from webhook.cel.extent import position, source
from webhook.cel.tree import Call, Const, Ident, Node, Select, Tree
from webhook.engine.compile import CompiledPolicy, expressions, within
from webhook.model.lint import Check, Finding
from webhook.model.path import render
from webhook.model.policy import Expression, ForEach, Location, Policy
from webhook.runs.lint.kinds import Matched, Universe


@dataclass(frozen=True, slots=True)
class Part:
    """One expression: `name` is that of its function or variable, such as `validation.0.message`."""

    name: str
    expression: Expression
    tree: Tree

    @property
    def role(self) -> str:
        """What it is for: condition, lookup, variables, validation, mutation, annotation or why."""
        return self.name.partition(".")[0]

    @property
    def last(self) -> str:
        """What it is for within its rule: a number for the rule itself, `message`, `fix`, `patch` and so on."""
        return self.name.rpartition(".")[2]

    def at(self, node: Node) -> Location:
        """Say where a node is written."""
        return within(self.expression, *position(self.tree, node))

    def text(self, node: Node) -> str:
        """Give a node as it is written, on one line."""
        return " ".join(source(self.tree, node).split())


class Subject:
    """One policy."""

    def __init__(self, compiled: CompiledPolicy, universe: Universe) -> None:
        self.policy: Policy = compiled.policy
        self.universe = universe
        self._program = compiled.program

    @cached_property
    def trees(self) -> Mapping[str, Tree]:
        """The syntax trees by name."""
        trees: Mapping[str, Tree] = pickle.loads(self._program.trees)  # noqa: S301 - our own
        return trees

    @cached_property
    def parts(self) -> Mapping[str, Part]:
        """The expressions by name, in the order of writing."""
        return {name: Part(name, one, self.trees[name]) for name, one in expressions(self.policy)}

    @cached_property
    def matched(self) -> Matched:
        """What it is about."""
        return self.universe.matched(self.policy)

    def place(self, *path: str | int) -> Location:
        """Name a field of `spec`; its line is looked up where something is found there."""
        return Location(self.policy.location.file, path=render(("spec", *path)))

    def each_of(self, part: Part) -> tuple[str, ForEach] | None:
        """Give the `forEach` that an expression of a rule is evaluated in, and the name of what it goes through."""
        role, number, *rest = part.name.split(".")
        each = self.policy.validations[int(number)].for_each if role == "validation" else None
        return (f"validation.{number}.each", each) if each and rest != ["each"] else None


def finding(check: Check, subject: Subject, part: Part, node: Node, message: str, fix: str) -> Finding:
    """Tell something of a node."""
    line, column = position(part.tree, node)
    length = 1
    match node:
        case Select(field=name, test=False):
            column, length = column + 1, len(name)  # behind the dot
        case Call(function="_?._", args=(_, Const(value=str(name)))):
            column, length = column + 2, len(name)  # behind the dot and the question mark
        case Ident(name=name):
            length = len(name)
    return Finding(check, subject.policy.name, within(part.expression, line, column), message, fix, length)
