"""What is known where a sub-expression is evaluated: what guards around it have found out.

CEL absorbs an error on one side of `&&` where the other is false, and of `||` where it is true, so each side may rely
on the other, whichever is written first.

A fact is `+way` (something is there), `!way` (it is not null), `way:type`, or of the object's kind `kind=A|B` or
`kind!A`. The way to a value is how it is read, with `.` before each field: `object.spec.variant`, however that is
written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from webhook.cel.scope import binders
from webhook.cel.tree import Call, Const, Ident, ListNode, Loop, MapNode, Node, OptMap, Select, Tree

Facts = frozenset[str]
NOTHING: Final[Facts] = frozenset()

STEPS: Final = ("_[_]", "_?._", "_[?_]")
_LONGEST: Final = 500
_PASSING: Final = ("dyn", "optional.of", "optional.ofNonZeroValue")
_OLD: Final = {"CREATE": "object", "DELETE": "oldObject", "UPDATE": "object oldObject", "CONNECT": "object"}
"""What is not null in a request of that operation."""


class Guards:
    """Reads facts off one expression; `others` are those of its policy, for the variables that it reads."""

    def __init__(self, name: str, trees: Mapping[str, Tree], others: dict[str, Guards]) -> None:
        self.mark = name.replace(".", "/")
        self._trees = trees
        self._others = others
        self._bound = binders(trees[name].root)
        others[name] = self

    def way(self, node: Node) -> str:
        """Give the way to a value: what is computed alike has the same. That of what a loop gives has a `~` in it."""
        match node:
            case Ident():
                return self._of_name(node)
            case Select(operand=operand, field=name):
                return f"{self.way(operand)}.{name}"
            case Call(function=function, args=(container, Const(value=str(name)))) if function in STEPS:
                return f"{self.way(container)}.{name}"
            case Call(function=function, args=(container, index)) if function in STEPS:
                return f"{self.way(container)}[{self.way(index)}]"
            case Call(function="orValue" | "orValueOfAny", target=target) if target is not None:
                return self.way(target)
            case OptMap(body=body):
                return self.way(body)
            case Call(function=function, args=(inner,)) if function in _PASSING:
                return self.way(inner)
            case Call(function="_?_:_", args=(_, one, other)) if _is_empty(other):
                return self.way(one)
            case Call(function=function):
                return self._short(f"{function}({','.join(map(self.way, node.operands))})", node)
            case Const():
                return repr(node.value)
            case _:
                return f"~{node.id}@{self.mark}"

    def _short(self, way: str, node: Node) -> str:
        """Give a way as it is, unless it is so long that nobody writes it twice."""
        return way if len(way) <= _LONGEST else f"~{node.id}@{self.mark}"

    def _of_name(self, node: Ident) -> str:
        if binder := self._bound.get(node.id):
            if isinstance(binder.node, OptMap):
                return self.way(binder.node.target)
            return f"~{node.name}#{binder.node.id}@{self.mark}"
        if node.name in self._trees:
            way = self.of(node.name).way(self._trees[node.name].root)
            return node.name if "~" in way else way
        return node.name

    def of(self, name: str) -> Guards:
        """Give the reader of another expression of the policy."""
        return self._others.get(name) or Guards(name, self._trees, self._others)

    def holds(self, node: Node, truth: bool) -> Facts:
        """Give what is known where a condition has come out so."""
        match node:
            case Call(function="!_", args=(inner,)):
                return self.holds(inner, not truth)
            case Call(function="_&&_" | "_||_" as operator, args=(one, other)):
                facts = self.holds(one, truth), self.holds(other, truth)
                return facts[0] | facts[1] if truth == (operator == "_&&_") else facts[0] & facts[1]
            case Call(function="_?_:_", args=(condition, one, other)):
                ways = [
                    self.holds(condition, chosen) | self.holds(branch, truth)
                    for chosen, branch in ((True, one), (False, other))
                    if not (isinstance(branch, Const) and branch.value is not truth)
                ]
                return frozenset.intersection(*ways) if ways else NOTHING
            case Call(function="_==_" | "_!=_" as operator, args=(one, other)):
                equal = truth == (operator == "_==_")
                return self._compared(one, other, equal) | self._compared(other, one, equal)
            case Ident(name=name) if name in self._trees and node.id not in self._bound:
                return self.of(name).holds(self._trees[name].root, truth)
            case _:
                return self._true(node) if truth else NOTHING

    def implied(self, node: Node, facts: Facts) -> Facts:
        """Give what a condition that is true says besides, where all but one side of its `||` cannot be."""
        left = [side for side in _sides(node) if not self._refuted(side, facts)]
        return self.holds(left[0], True) if len(left) == 1 else NOTHING

    def _refuted(self, node: Node, facts: Facts) -> bool:
        """Does the kind of the object rule a condition out."""
        kinds = [fact[5:].split("|") for fact in self.holds(node, True) if fact.startswith("kind=")]
        return any(not chosen_kinds(facts, names) for names in kinds)

    def _true(self, node: Node) -> Facts:
        match node:
            case Select(test=True):
                return self.there(node)
            case Call(function="@in", args=(key, container)):
                return self._member(key, container)
            case Call(function="hasValue", target=target) if target is not None:
                return self.there(target)
            case Call(function="orValue" | "orValueOfAny", target=target, args=(Const(value=False),)) if (
                target is not None
            ):
                return self._true(target)
            case OptMap(target=target, body=body):
                return self.there(target) | self.holds(body, True)
            case Call(function=function) if function in STEPS:
                return self.there(node)
            case Loop(kind="exists" | "exists_one"):
                return self.there(node.range)
            case _:
                return NOTHING

    def _member(self, key: Node, container: Node) -> Facts:
        match key, container:
            case Select(), ListNode(elements=elements) if elements and _of_request(key, "operation"):
                return frozenset.intersection(*map(self._operation, elements))
            case Select(), ListNode(elements=elements) if _of_request(key, "kind", "kind"):
                names = sorted(str(one.value) for one in elements if isinstance(one, Const))
                return frozenset({f"kind={'|'.join(names)}"})
            case Const(value=str(name)), _:
                return self.there(container) | {f"+{self.way(container)}.{name}"}
            case _:
                return self.there(container) | {f"+{self.way(container)}[{self.way(key)}]"}

    def _operation(self, node: Node) -> Facts:
        names = _OLD.get(str(node.value), "") if isinstance(node, Const) else ""
        return frozenset(f"!{name}" for name in names.split())

    def _compared(self, one: Node, other: Node, equal: bool) -> Facts:
        match one, other:
            case Call(function="type", args=(value,)), Ident(name=name) if equal:
                known = NOTHING if _type(self._fallback(value)) == name else self.there(value)
                return known | {f"{self.way(value)}:{name}"}
            case _, Const(value=str(kind)) if _of_request(one, "kind", "kind"):
                return frozenset({f"kind={kind}" if equal else f"kind!{kind}"})
            case _, Const(value=str(operation)) if _of_request(one, "operation"):
                if equal:
                    return self._operation(other)
                return frozenset({"!object"}) if operation == "DELETE" else NOTHING
            case _, Const(value=value):
                fallback = self._fallback(one)
                stands_in = isinstance(fallback, Const) and fallback.value == value
                if value is None and not equal:
                    return self.there(one) if fallback is None or stands_in else NOTHING
                if equal:
                    return NOTHING if stands_in or value is None else self.there(one)
                return self._differs(one, value)
            case _:
                return NOTHING

    def _fallback(self, node: Node) -> Node | None:
        """Give what stands in for a value that is absent, where something does."""
        match node:
            case Call(function="orValue" | "orValueOfAny", args=(default,)):
                return default
            case Call(function="_?_:_", args=(_, _, other)) if _is_empty(other):
                return other
            case Ident(name=name) if name in self._trees and node.id not in self._bound:
                return self.of(name)._fallback(self._trees[name].root)  # noqa: SLF001 - one of us
            case Call(function=function, args=(inner,)) if function in _PASSING:
                return self._fallback(inner)
            case _:
                return None

    def _differs(self, node: Node, value: object) -> Facts:
        """Give what is known where a value is not this one: it is not what stands in for something that is absent."""
        match node:
            case Ident(name=name) if name in self._trees and node.id not in self._bound:
                return self.of(name)._differs(self._trees[name].root, value)  # noqa: SLF001 - one of us
            case Call(function="_?_:_", args=(condition, one, Const(value=other))) if other == value:
                return self.holds(condition, True) | self._differs(one, value)
            case Call(function="_?_:_", args=(condition, Const(value=other), one)) if other == value:
                return self.holds(condition, False) | self._differs(one, value)
            case Call(function="orValue" | "orValueOfAny", target=target, args=(Const(value=other),)) if (
                target and other == value
            ):
                return self.there(target)
            case _:
                return NOTHING

    def there(self, node: Node) -> Facts:
        """Give the facts of a value that was read: it is there, as is everything on the way to it."""
        parts = self.way(node).split(".")
        steps = (".".join(parts[:end]) for end in range(1, len(parts) + 1))
        return frozenset(f"{sign}{step}" for step in steps for sign in "+!")


def _sides(node: Node) -> list[Node]:
    match node:
        case Call(function="_||_", args=(one, other)):
            return [*_sides(one), *_sides(other)]
        case _:
            return [node]


def _type(node: Node | None) -> str:
    """Give the CEL type of what is written out."""
    match node:
        case MapNode():
            return "map"
        case ListNode():
            return "list"
        case Const(value=value):
            return {str: "string", int: "int", float: "double", bool: "bool"}.get(type(value), "")
        case _:
            return ""


def _is_empty(node: Node) -> bool:
    match node:
        case MapNode(entries=()) | ListNode(elements=()) | Const(value=None | ""):
            return True
        case _:
            return False


def _of_request(node: Node, *steps: str) -> bool:
    """Is it `request.kind.kind`, say."""
    for step in reversed(steps):
        if not (isinstance(node, Select) and node.field == step and not node.test):
            return False
        node = node.operand
    return isinstance(node, Ident) and node.name == "request"


def chosen_kinds(facts: Facts, kinds: Iterable[str]) -> frozenset[str]:
    """Give the kinds that an object can be of."""
    left = set(kinds)
    for fact in facts:
        if fact.startswith("kind="):
            left &= set(fact[5:].split("|"))
        elif fact.startswith("kind!"):
            left.discard(fact[5:])
    return frozenset(left)


def lasting(facts: Facts) -> Facts:
    """Leave the facts that hold outside the expression, too: those of no loop variable."""
    return frozenset(fact for fact in facts if "~" not in fact)
