"""Expressions of a policy as a native policy can have them: what only we know is written out as variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from webhook.cel.extent import source
from webhook.cel.lenient import OR_VALUE
from webhook.cel.literal import literal
from webhook.cel.names import free_names, reached, renamed
from webhook.cel.needs import Needs
from webhook.cel.reads import ANY
from webhook.cel.tree import Call, Const, MapNode, Node, Tree, walk
from webhook.engine.activation import ACKNOWLEDGE
from webhook.engine.policyset import LinkedPolicy
from webhook.model.path import Path
from webhook.model.policy import Lookup
from webhook.model.release import Release
from webhook.model.request import Object
from webhook.runs.export.absent import Absent

_ACKNOWLEDGED: Final = (
    f"(object == null ? oldObject : object).?metadata.?annotations[?{literal(ACKNOWLEDGE)}].orValue('').split(',')"
    ".filter(entry, entry.trim() != '').transformMapEntry(at, entry, {entry.split('=', 2)[0].trim():"
    " entry.contains('=') ? entry.split('=', 2)[1].trim() : ''})"
)
"""What `acknowledged` is, from the annotation."""


_ALWAYS_THERE: Final = ("", "/metadata")
"""Parents that every object has."""


@dataclass(frozen=True)
class Expressions:
    """The expressions of one policy, by the names of its functions and variables, for one release."""

    policy: LinkedPolicy
    release: Release

    def has(self, name: str) -> bool:
        """Does the policy have such an expression."""
        return name in self._trees

    def type(self, name: str) -> str:
        """Give an expression's CEL type."""
        return self._trees[name].type

    def fault(self, *names: str, param: str = "") -> str:
        """Say why a native policy, with this lookup as its param, cannot have these expressions; "" where it can."""
        known = [name for name in names if self.has(name)]
        read = frozenset().union(*map(self._reached, known))
        if found := sorted(one for one in read if one.startswith("lookups.") and one != f"lookups.{param}"):
            return f"reads `{found[0]}`, and a native policy sees no other objects"
        trees = (self._trees[name] for name in (*known, *(read & self._trees.keys())))
        if any(isinstance(node, Call) and node.function == OR_VALUE for tree in trees for node in walk(tree.root)):
            return "calls `orValue` of what may be no optional, which only Kyverno takes"
        return ""

    def guard(self, rule: str) -> Lookup | None:
        """Give the lookup that a rule can have as its param: one object of a fixed name, without which it holds."""
        names = [name for name in (rule, f"{rule}.each") if self.has(name)]
        read = frozenset().union(*map(self._reached, names))
        found = [one for one in self.policy.policy.lookups if f"lookups.{one.name}" in read]
        if len(found) != 1 or self.policy.policy.reads_params or not _is_fixed(found[0]):
            return None
        return found[0] if Absent(self._trees, f"lookups.{found[0].name}").holds(rule) else None

    def condition_fault(self, name: str) -> str:
        """Say the same of a match condition, which sees less."""
        names = free_names(self._trees[name])
        if "namespaceObject" in names:
            return "a match condition reads `namespaceObject`, which native ones do not have"
        if any(one.startswith("variables.") for one in names):
            return "a match condition reads `variables`, which native ones do not have"
        return self.fault(name)

    def asks_authorizer(self, name: str) -> bool:
        """Does an expression, or a variable that it reads, ask what somebody may do."""
        return any(one.startswith("authorizer") for one in self._reached(name))

    def deep_addition(self, name: str) -> str:
        """Give the first path that a mutation adds and whose parent may be missing; "" if there is none.

        With us an `add` makes the parents it needs; natively it is an error.
        """
        for node in walk(self._trees[name].root):
            if isinstance(node, MapNode) and node.structure == "JSONPatch":
                fields = {entry.key.value: entry.value for entry in node.entries if isinstance(entry.key, Const)}
                path = source(self._trees[name], fields["path"]) if "path" in fields else ""
                if _const(fields.get("op")) in ("add", "") and _parent(_const(fields.get("path"))) not in _ALWAYS_THERE:
                    return path
        return ""

    def text(self, name: str) -> str:
        """Write an expression whose policy has `variables`."""
        names = {known: f"variables.{new}" for known, new in self._variables.items()}
        return renamed(
            self._trees[name], names | {f"lookups.{one.name}": "params" for one in self.policy.policy.lookups}
        )

    def condition(self, name: str) -> str:
        """Write a match condition, which can read no variable."""
        return renamed(self._trees[name], {known: self._definition(known) for known in self._variables})

    def variables(self, names: Iterable[str]) -> list[Object]:
        """Write the variables that these expressions read, in order, and those that stand for what only we know."""
        read = frozenset().union(*map(self._reached, names))
        made = [
            {"name": new, "expression": self._definition(known)}
            for known, new in self._variables.items()
            if known in read
        ]
        names = [one.name for one in self.policy.policy.variables if f"variables.{one.name}" in read]
        return made + [{"name": name, "expression": self.text(f"variables.{name}")} for name in names]

    @property
    def knows_packages(self) -> bool:
        """Does the policy read which packages there are, which the PackageSources of a cluster may change."""
        needs = self.policy.linked.needs("release")
        return () in needs.whole or any(path[:1] in (("packages",), (ANY,)) for path in needs.whole | needs.present)

    @cached_property
    def _trees(self) -> Mapping[str, Tree]:
        return self.policy.linked.trees

    @cached_property
    def _variables(self) -> Mapping[str, str]:
        """Name the variables that stand for what only we know, as no other is called."""
        taken = {one.name for one in self.policy.policy.variables}
        return {known: _unused(known, taken) for known in ("release", "acknowledged")}

    def _definition(self, known: str) -> str:
        if known == "acknowledged":
            return _ACKNOWLEDGED
        return f"dyn({literal(_pruned(self.release.facts, self.policy.linked.needs('release')))})"

    def _reached(self, name: str) -> frozenset[str]:
        return reached(self._trees, name)


def _is_fixed(lookup: Lookup) -> bool:
    return bool(lookup.object_name.literal) and lookup.namespace.expression is None


def _const(node: Node | None) -> str:
    """Give a text that is written out; "" for what is computed."""
    return str(node.value) if isinstance(node, Const) else ""


def _parent(path: str) -> str | None:
    return path.rpartition("/")[0] if path else None


def _unused(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _pruned(value: Any, needs: Needs) -> Any:
    """Leave what is needed of a value; of a map that only has to be there, no key."""
    if () in needs.whole:
        return value
    if isinstance(value, list):
        return [_pruned(element, needs.of_elements()) for element in value]
    if not isinstance(value, dict):
        return value
    heads = {path[0] for path in (*needs.whole, *needs.present) if path}
    return {key: _pruned(inner, _below(needs, key)) for key, inner in value.items() if heads & {key, ANY}}


def _below(needs: Needs, key: str) -> Needs:
    return Needs(_tails(needs.whole, key), _tails(needs.present, key))


def _tails(paths: Iterable[Path], key: str) -> frozenset[Path]:
    return frozenset(path[1:] for path in paths if path and path[0] in (key, ANY))
