"""What the value of a sub-expression can be, as far as schemas tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Final

from webhook.admission.structures import Structure

_KINDS: Final = {
    "string": frozenset({"string"}),
    "integer": frozenset({"int"}),
    "number": frozenset({"double", "int"}),
    "boolean": frozenset({"bool"}),
    "object": frozenset({"map"}),
    "array": frozenset({"list"}),
}
OBJECT: Final = "object"
NAMESPACED: Final = "namespaced object"
_METADATA: Final = {OBJECT: "metadata", NAMESPACED: "namespaced metadata"}
_ALWAYS: Final = {
    **dict.fromkeys((OBJECT, NAMESPACED), ("apiVersion", "kind", "metadata")),
    "metadata": ("name", "uid", "creationTimestamp", "generation"),
    "namespaced metadata": ("name", "namespace", "uid", "creationTimestamp", "generation"),
}
"""Of what the API server lets be validated; an object with `generateName` has its name by then."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The possibilities of a value.

    `given`: it comes from an object, whose fields may be missing; what an expression makes itself is not. `structures`
    are the schemas that it can have, `made` the CEL types of what the expression makes in their place, `others` says
    that it may be anything. `root` is the name whose value it is as a whole (`object`). `fields` and `items` are of
    maps and lists that are written out.
    """

    given: bool = False
    structures: tuple[Structure, ...] = ()
    made: frozenset[str] = frozenset()
    others: bool = False
    root: str = ""
    fields: Mapping[str, Shape] = field(default_factory=dict)
    items: Shape | None = None
    words: frozenset[str] | None = frozenset()
    """The texts that the expression puts in place of a value; None where it computes them."""
    whole: str = ""
    """What the API server has completed: OBJECT, NAMESPACED, or the metadata of such a one."""
    failed: bool = False
    """A step to it was told to be missing already: those behind it are not told again."""

    def __or__(self, other: Shape) -> Shape:
        if self == other:
            return self
        structures = tuple({id(one): one for one in (*self.structures, *other.structures)}.values())
        items = self.items | other.items if self.items and other.items else self.items or other.items
        return Shape(
            self.given or other.given,
            structures,
            self.made | other.made,
            self.others or other.others or bool(self.fields or other.fields),
            items=items,
            words=None if self.words is None or other.words is None else self.words | other.words,
            failed=self.failed or other.failed,
        )

    @property
    def options(self) -> frozenset[str]:
        """The texts that it can be, where schemas list them; none where it may be others."""
        lists = [one.schema.get("enum") for one in self.structures]
        if self.others or self.words is None or not lists or not all(lists):
            return frozenset()
        return self.words | {word for one in lists for word in one or () if isinstance(word, str)}

    @property
    def kinds(self) -> frozenset[str]:
        """The CEL types that schemas say it can have; none where it may be anything."""
        if self.others:
            return frozenset()
        found = set(self.made)
        for one in self.structures:
            kinds = _kinds(one)
            if not kinds:
                return frozenset()
            found |= kinds
        return frozenset(found)

    def at(self, name: str) -> Shape:
        """Go to a field, or to the value of a key."""
        if name in self.fields:
            return replace(self.fields[name], failed=self.failed)
        inner = [found for one in self.structures if (found := _field(one, name)) is not None]
        whole = _METADATA.get(self.whole, "") if name == "metadata" else ""
        others = self.others or not inner
        return Shape(self.given, tuple(inner), others=others, failed=self.failed, whole=whole)

    def has_no(self, name: str) -> bool:
        """Is it known that there is no such field."""
        if self.others or not self.structures or name in self.fields or self.failed:
            return False
        return all(one.schema.get("type") == "object" and _field(one, name) is None for one in self.structures)

    def names(self) -> list[str]:
        """The fields that it can have."""
        return [name for one in self.structures for name in one.fields]

    def always(self, name: str) -> bool:
        """Is a field there in each object that the API server has read."""
        if name in self.fields:
            return True
        return name in _ALWAYS.get(self.whole, ()) or self._says(name)

    def _says(self, name: str) -> bool:
        sure = bool(self.structures) and not self.others and "map" not in self.made
        return sure and all(map(_Always(name), self.structures))

    def element(self) -> Shape:
        """Go to the items of a list or the values of a map."""
        if self.items is not None:
            return self.items
        inner = [found for one in self.structures if (found := _element(one)) is not None]
        return Shape(self.given, tuple(inner), others=self.others or not inner, failed=self.failed)

    @property
    def is_map(self) -> bool:
        """Is it known to be a map."""
        return bool(self.fields) or self.kinds == {"map"}


MADE: Final = Shape(others=True)
"""Whatever an expression makes itself, of a type that nobody knows."""


@dataclass(frozen=True, slots=True)
class _Always:
    name: str

    def __call__(self, structure: Structure) -> bool:
        schema = structure.schema
        one = structure.fields.get(self.name, {})
        return self.name in schema.get("always", ()) or self.name in schema.get("required", ()) or "default" in one


def union(shapes: Iterable[Shape]) -> Shape:
    """Give what one of several can be."""
    found = list(shapes)
    return reduce(lambda one, other: one | other, found) if found else MADE


def _kinds(structure: Structure) -> frozenset[str]:
    schema = structure.schema
    if schema.get("format") == "int-or-string" or schema.get("x-kubernetes-int-or-string") is True:
        return frozenset({"int", "string"})
    if schema.get("format") == "quantity":
        return frozenset({"string"})  # as the API server writes it, whatever people wrote
    return _KINDS.get(str(schema.get("type")), frozenset())


def _field(structure: Structure, name: str) -> Structure | None:
    if structure.schema.get("type") not in (None, "object"):
        return None
    return structure.field(name)


def _element(structure: Structure) -> Structure | None:
    schema = structure.schema
    if schema.get("type") == "array":
        return structure.items
    others = schema.get("additionalProperties")
    return structure.inner(others) if isinstance(others, dict) else None
