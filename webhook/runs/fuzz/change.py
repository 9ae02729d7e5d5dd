"""One change of an object: a field dropped, nulled, given another value, or added because its schema has it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from webhook.admission.structures import Structure
from webhook.model.path import Path, render, walk
from webhook.model.request import Object
from webhook.runs.fuzz.grow import grown

MISSING: Final = object()
_OTHERS: Final[tuple[Any, ...]] = (
    MISSING,
    MISSING,
    None,
    None,
    {},
    [],
    "",
    "x",
    ["x"],
    {"x": "x"},
    0,
    7,
    -1,
    1.5,
    True,
)
"""What is put in place of a field, whatever it is."""
_LONGEST: Final = 60


@dataclass(frozen=True, slots=True)
class Change:
    """A value at a path; MISSING takes away what stands there."""

    path: Path
    value: Any

    def __str__(self) -> str:
        if self.value is MISSING:
            return f"{render(self.path)} is missing"
        text = json.dumps(self.value, ensure_ascii=False)
        return f"{render(self.path)} is {text if len(text) <= _LONGEST else text[:_LONGEST] + '…'}"

    def apply(self, obj: Object) -> Object | None:
        """Give the changed object; None where its path leads nowhere, as another change took that away."""
        made: Object = deepcopy(obj)
        *parents, last = self.path
        parent: Any = walk(made, parents)[1]
        stands = walk(parent, (last,))[0]
        if self.value is MISSING and stands:
            del parent[last]
        elif self.value is not MISSING and (stands or (isinstance(parent, dict) and isinstance(last, str))):
            parent[last] = deepcopy(self.value)
        else:
            return None
        return made

    def takes_away_what_is_always_there(self, structure: Structure) -> bool:
        """Would the API server put it back: a part of a Go type that is no pointer is there in every object."""
        if self.value is not MISSING and self.value is not None:
            return False
        *parents, last = self.path
        inner: Structure | None = structure
        for step in parents:
            inner = inner and (inner.items if isinstance(step, int) else inner.field(step))
        if inner is None:
            return False
        return last in inner.schema.get("always", ()) or (isinstance(last, int) and self.value is None and inner.native)


def change(random: Random, obj: Object, structure: Structure | None, seen: list[Any]) -> Change | None:
    """Think of a change; `seen` are values that stand in objects of the same suite. None where there is nothing."""
    paths = [path for path in _paths(obj) if not _is_identity(path)]
    if structure and random.random() < 0.3 and (added := _addition(random, obj, structure)):
        return added
    if not paths:
        return None
    value = random.choice(seen) if seen and random.random() < 0.4 else random.choice(_OTHERS)
    return Change(random.choice(paths), value)


def values(obj: Any) -> Iterator[Any]:
    """Give every value that stands in an object."""
    for path in _paths(obj):
        yield walk(obj, path)[1]


def _addition(random: Random, obj: Object, structure: Structure) -> Change | None:
    """Add a field that the schema has, or replace it by another value of its type."""
    places = [(path, inner) for path, inner in _maps(obj, structure) if inner.fields]
    if not places:
        return None
    path, inner = random.choice(places)
    name = random.choice(list(inner.fields))
    field = inner.field(name)
    if field is None or _is_identity((*path, name)) or (*path, name) in (("metadata",), ("status",)):
        return None
    return Change((*path, name), grown(random, field))


def _maps(value: Any, structure: Structure, path: Path = ()) -> Iterator[tuple[Path, Structure]]:
    if isinstance(value, dict):
        yield path, structure
        for key, item in value.items():
            if inner := structure.field(key):
                yield from _maps(item, inner, (*path, key))
    elif isinstance(value, list) and structure.is_list:
        for index, item in enumerate(value):
            yield from _maps(item, structure.items, (*path, index))


def _paths(value: Any, path: Path = ()) -> Iterator[Path]:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in entries:
        yield (*path, key)
        yield from _paths(item, (*path, key))


def _is_identity(path: Path) -> bool:
    """Is it what makes it this object: without it no request is made, and nobody finds it."""
    return path in (("apiVersion",), ("kind",), ("metadata",), ("metadata", "name"), ("metadata", "namespace"))
