"""What an expression comes to when the object that it looks up is not there, whatever else it reads.

A native policy with a param that is missing, and may be, is not evaluated at all. So a rule can have what it looks up
as its param if it holds where that is null: then the object only guards it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from webhook.cel.tree import Call, Const, Ident, ListNode, Node, OptMap, Select, Tree
from webhook.cel.values import equal

UNKNOWN: Final = object()
"""It depends on other things, or is an error."""
_NONE: Final = object()
"""The optional that has no value."""
_STEPS: Final = ("_?._", "_[?_]")


@dataclass(frozen=True)
class Absent:
    """Evaluates the expressions of a policy as far as it is known that `lookup`, as `lookups.gpu`, is null."""

    trees: Mapping[str, Tree]
    lookup: str

    def holds(self, rule: str) -> bool:
        """Does a rule of this name hold: its expression is true, or there are no elements to be asked about."""
        each = f"{rule}.each"
        nothing = each in self.trees and self.value(each) in (None, _NONE, [])
        return nothing or self.value(rule) is True

    def value(self, name: str) -> Any:
        """Give what an expression comes to, or UNKNOWN."""
        return self._of(self.trees[name].root)

    def _of(self, node: Node) -> Any:
        match node:
            case Const(value=value):
                return value
            case Ident(name=name):
                return None if name == self.lookup else self.value(name) if name in self.trees else UNKNOWN
            case ListNode(elements=()):
                return []
            case Select(test=True, operand=operand):
                return False if self._of(operand) is None else UNKNOWN
            case Select(operand=operand) | OptMap(target=operand):
                return _NONE if self._of(operand) is _NONE else UNKNOWN
            case Call():
                return self._called(node)
            case _:
                return UNKNOWN

    def _called(self, node: Call) -> Any:
        operands = [self._of(operand) for operand in node.operands]
        match node.function, operands:
            case "_&&_", _ if any(one is False for one in operands):
                return False
            case "_||_", _ if any(one is True for one in operands):
                return True
            case (("_&&_" | "_||_"), [bool(), bool()]):
                return operands[0]
            case "!_", [bool(one)]:
                return not one
            case "_?_:_", [bool(condition), then, otherwise]:
                return then if condition else otherwise
            case step, [found, _] if step in _STEPS and (found is None or found is _NONE):
                return _NONE
            case "hasValue", [found] if found is _NONE:
                return False
            case (("orValue" | "or"), [found, other]) if found is _NONE:
                return other
            case (("_==_" | "_!=_"), [left, right]) if UNKNOWN not in (left, right) and _NONE not in (left, right):
                return equal(left, right) is (node.function == "_==_")
            case _:
                return UNKNOWN
