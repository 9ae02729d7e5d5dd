"""One expression, walked over node by node: the shape of each value, and what guards it where it is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Protocol

from webhook.cel.scope import Binder, binders
from webhook.cel.tree import Call, Const, Ident, ListNode, Loop, MapNode, Node, OptMap, Select
from webhook.runs.lint.facts import NOTHING, STEPS, Facts, Guards, chosen_kinds, lasting
from webhook.runs.lint.kinds import Matched
from webhook.runs.lint.met import Met, Round, Step, Use
from webhook.runs.lint.shape import MADE, NAMESPACED, OBJECT, Shape, union
from webhook.runs.lint.subject import Part, Subject

_OBJECTS = ("object", "oldObject")
_MADE = ("bool", "bytes", "double", "int", "list", "map", "string", "uint")
_PASSING = ("dyn", "optional.of", "optional.ofNonZeroValue", "value", "sort", "distinct", "reverse")


class Around(Protocol):
    """What an expression needs of its policy: `sites` are the facts that hold wherever a variable is read."""

    subject: Subject
    met: Met
    guards: dict[str, Guards]
    sites: dict[str, Facts]

    def shape_of(self, name: str) -> Shape:
        """Give the shape of a variable, or of what a `forEach` goes through."""

    def implied(self, facts: Facts) -> Facts:
        """Give what the match conditions say besides, where these facts are known."""


class Expression:
    """Walks over one expression of a policy; what it meets is added to `around.met`."""

    def __init__(self, around: Around, part: Part) -> None:
        self._around = around
        self._part = part
        self._guards = around.guards[part.name]
        self._bound: Mapping[int, Binder] = binders(part.tree.root)
        self._ranges: dict[int, Shape] = {}

    def walk(self, node: Node, facts: Facts) -> Shape:
        """Go through a node; `facts` are known there."""
        match node:
            case Ident():
                return self._name(node, facts)
            case Select():
                return self._step(node, node.operand, node.field, facts, soft=node.test)
            case Call(function=function, args=(container, key)) if function in STEPS:
                self.walk(key, facts)
                if names := self._words(key):
                    return union(self._step(node, container, name, facts, soft=function != "_[_]") for name in names)
                soft = function != "_[_]" or (isinstance(key, Ident) and key.id in self._bound)  # one of some names
                return self._step(node, container, "", facts, soft=soft)
            case Call(function="_&&_" | "_||_" as operator, args=(one, other)):
                truth = operator == "_&&_"
                self.walk(one, facts | self._guards.holds(other, truth))
                self.walk(other, facts | self._guards.holds(one, truth))
                return MADE
            case Call(function="_?_:_", args=(condition, one, other)):
                self.walk(condition, facts)
                then = self.walk(one, facts | self._guards.holds(condition, True))
                return then | self.walk(other, facts | self._guards.holds(condition, False))
            case Call():
                return self._call(node, facts)
            case Loop():
                return self._loop(node, facts)
            case OptMap():
                self._ranges[node.id] = self.walk(node.target, facts)
                return self.walk(node.body, facts | self._guards.there(node.target))
            case ListNode():
                inner = [self.walk(one, facts) for one in node.elements]
                return Shape(made=frozenset({"list"}), items=union(inner) if inner else None)
            case MapNode():
                return self._map(node, facts)
            case _:
                return self._made(node)

    def _made(self, node: Node) -> Shape:
        """Give the shape of what the expression computes: the type that the checker knows. Null is no possibility."""
        if isinstance(node, Const) and node.value is None:
            return Shape()
        kind = self._part.tree.type_of(node).partition("(")[0]
        words = frozenset({node.value}) if isinstance(node, Const) and isinstance(node.value, str) else None
        return Shape(made=frozenset({kind}), words=words) if kind in _MADE else MADE

    def _words(self, key: Node) -> list[str]:
        """Give the words that a key can be: one that is written, or those of a list that a loop goes through."""
        match key:
            case Const(value=str(word)):
                return [word]
            case Ident() if (binder := self._bound.get(key.id)) and isinstance(binder.node, Loop):
                words = binder.node.range
                while isinstance(words, Loop) and words.kind == "list":  # what a filter leaves
                    words = words.range
                elements = words.elements if isinstance(words, ListNode) and not binder.is_key else ()
                return [one.value for one in elements if isinstance(one, Const) and isinstance(one.value, str)]
            case _:
                return []

    def _map(self, node: MapNode, facts: Facts) -> Shape:
        fields: dict[str, Shape] = {}
        for entry in node.entries:
            self.walk(entry.key, facts)
            value = self.walk(entry.value, facts)
            if isinstance(entry.key, Const) and isinstance(entry.key.value, str) and not entry.optional:
                fields[entry.key.value] = value
        return Shape(made=frozenset({"map"}), fields=fields)

    def _name(self, node: Ident, facts: Facts) -> Shape:
        if binder := self._bound.get(node.id):
            return self._of_binder(binder)
        name, subject = node.name, self._around.subject
        if name.startswith("lookups."):  # its name and namespace are computed now
            for role in ("name", "namespace"):
                self._reads(f"lookup.{name.removeprefix('lookups.')}.{role}", facts)
        if name in subject.trees:
            self._reads(name, facts)
            return self._around.shape_of(name)
        each = subject.each_of(self._part)
        if each and name == each[1].as_:
            return self._around.shape_of(each[0]).element()
        if name in _OBJECTS:
            return _of_kinds(subject.matched, chosen_kinds(facts, subject.matched.names), name)
        return self._from_outside(name)

    def _reads(self, name: str, facts: Facts) -> None:
        sites = self._around.sites
        sites[name] = sites[name] & lasting(facts) if name in sites else lasting(facts)

    def _from_outside(self, name: str) -> Shape:
        subject = self._around.subject
        for lookup in subject.policy.lookups:
            if name == f"lookups.{lookup.name}":
                matched = subject.universe.kind(lookup.api_version, lookup.kind)
                one = _of_kinds(matched, [lookup.kind], name if lookup.object_name else "")
                return one if lookup.object_name else Shape(made=frozenset({"list"}), items=one)
        if name == "params" and (params := subject.policy.params):
            return _of_kinds(subject.universe.kind(params.api_version, params.kind), [params.kind], name)
        if name in ("params", "namespaceObject"):
            return replace(MADE, root=name)
        return MADE

    def _of_binder(self, binder: Binder) -> Shape:
        shape = self._ranges.get(binder.node.id, MADE)
        if isinstance(binder.node, OptMap):
            return shape
        is_key = binder.is_key or (not binder.node.variable2 and shape.is_map)
        return MADE if is_key else shape.element()

    def _step(self, node: Node, container: Node, name: str, facts: Facts, *, soft: bool) -> Shape:
        shape = self.walk(container, facts)
        soft |= self._part.tree.type_of(container).startswith("optional_type")
        null = "" if soft or f"!{self._guards.way(container)}" in facts else shape.root
        there = self._is_there(node, shape, name, facts, soft=soft)
        self._around.met.steps.append(Step(self._part, node, container, shape, name, soft, there, null))
        found = shape.at(name) if name else shape.element()
        return found if there or soft else replace(found, failed=True)

    def _is_there(self, node: Node, shape: Shape, name: str, facts: Facts, *, soft: bool) -> bool:
        """Is it known that there is such a field. Of an index of a list nothing is known here, and nothing said."""
        if not shape.given or shape.failed or (not name and not shape.is_map) or (name and shape.always(name)):
            return True
        way = f"+{self._guards.way(node)}"
        return way in facts or (not soft and way in self._around.implied(facts))

    def _call(self, node: Call, facts: Facts) -> Shape:
        shapes = tuple(self.walk(one, facts) for one in node.operands)
        types = tuple(self._type(one, facts) for one in node.operands)
        self._around.met.uses.append(Use(self._part, node, shapes, types))
        match node:
            case Call(function="orValue" | "orValueOfAny" | "or" | "_+_"):
                return union(shapes)
            case Call(function=name) if name in _PASSING and shapes:
                return shapes[0]
            case Call(function="flatten") if shapes[0].items:
                inner = shapes[0].items
                return inner if inner.items else Shape(inner.given, made=frozenset({"list"}), items=inner.element())
            case Call(function="first" | "last"):
                return shapes[0].element()
            case _:
                return self._made(node)

    def _type(self, node: Node, facts: Facts) -> str:
        way = self._guards.way(node)
        return next((fact.rpartition(":")[2] for fact in facts if fact.startswith(f"{way}:")), "")

    def _loop(self, node: Loop, facts: Facts) -> Shape:
        shape = self._ranges[node.id] = self.walk(node.range, facts)
        self._around.met.loops.append(Round(self._part, node, shape))
        inner = facts | self._guards.there(node.range) | self._own_key(node, shape) | self._filtered(node)
        if node.filter:
            self.walk(node.filter, inner)
            inner |= self._guards.holds(node.filter, True)
        body = self.walk(node.body, inner)
        if node.kind != "list":
            return shape if node.kind == "sort" else self._made(node)
        return Shape(body.given, made=frozenset({"list"}), items=body)

    def _filtered(self, node: Loop) -> Facts:
        """Say of the elements that a filter has left what it asks of them."""
        match node.range:
            case Loop(kind="list", filter=condition, body=Ident(name=name), variable=variable) if name == variable:
                if condition is None:
                    return NOTHING
                before, after = (f"~{one.variable}#{one.id}@{self._guards.mark}" for one in (node.range, node))
                known = self._guards.holds(condition, True)
                return frozenset(fact.replace(before, after) for fact in known)
            case _:
                return NOTHING

    def _own_key(self, node: Loop, shape: Shape) -> Facts:
        """Say that the map has the key that the loop is at."""
        if not shape.is_map and not node.variable2:
            return NOTHING
        name = f"~{node.variable}#{node.id}@{self._guards.mark}"
        return frozenset({f"+{self._guards.way(node.range)}[{name}]"})


def _of_kinds(matched: Matched, names: Iterable[str], root: str) -> Shape:
    """Give the shape of a whole object of one of these kinds."""
    names = list(names)
    whole = NAMESPACED if matched.are_namespaced(names) else OBJECT
    return Shape(True, matched.structures(names), others=matched.others, root=root, whole=whole)
