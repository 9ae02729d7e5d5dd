"""An object against its structure: every place that the API server would refuse by itself, before any policy is asked.

As in a strict request (`kubectl apply --validate=strict`, the default), unknown fields are refused, not dropped.
Kubernetes' own kinds are decoded into Go types, where null is nothing; custom resources are held to the schema of
their definition (`pkg/apiserver/validation`, `schema/pruning` and `schema/listtype` of k8s.io/apiextensions-apiserver).
What is written below `status` is dropped where objects are made, so only its field names count. Rules in CEL
(`x-kubernetes-validations`) are not evaluated, nor what is in the API server's code alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from webhook.admission.structures import Schema, Structure
from webhook.errors import did_you_mean
from webhook.model.path import Path, render
from webhook.model.request import Object
from webhook.sources.schemas.scalars import is_int_or_string, kind_fault, same, shown, value_faults, wanted

_OPEN: Final = "x-kubernetes-preserve-unknown-fields"
_STATUS: Final = ("status",)
_JUNCTORS: Final = frozenset({"allOf", "anyOf", "oneOf", "not"})
_MAY_LACK: Final = frozenset({"limits", "preference", "rules"})
"""Fields that OpenAPI wants and the API server does without."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong at a path; `of_key`: with the name of the field, not with what stands there.

    `undecodable`: the API server has a Go type that cannot hold it, so that no such object can be, however it is sent.
    """

    path: Path
    message: str
    of_key: bool = False
    undecodable: bool = False


def conform(obj: Object, structure: Structure) -> list[Fault]:
    """Find everything in an object that its structure does not allow, in the order of writing."""
    return _Conformity().check(obj, structure)


class _Conformity:
    """Collects the faults of one value."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []

    def check(self, value: Any, structure: Structure, path: Path = ()) -> list[Fault]:
        """Look at a value and at all that is in it."""
        self._value(value, structure, path)
        return self._faults

    def _value(self, value: Any, structure: Structure, path: Path) -> None:
        schema = structure.schema
        if value is None:
            self._null(structure, path)
            return
        if isinstance(value, dict) and structure.is_map:
            self._map(value, structure, path)
        elif isinstance(value, list) and structure.is_list:
            self._list(value, structure, path)
        elif path[:1] != _STATUS:
            self._scalar(value, structure, path)
        if path[:1] != _STATUS and not _JUNCTORS.isdisjoint(schema):
            self._junctors(value, structure, path)

    def _say(self, path: Path, message: str) -> None:
        self._faults.append(Fault(path, message))

    def _null(self, structure: Structure, path: Path) -> None:
        """Null is nothing, but for an item of a list in a custom resource, which would be missed."""
        schema = structure.schema
        nothing = structure.native or isinstance(path[-1], str) or schema.get("nullable") or "type" not in schema
        if not nothing and path[:1] != _STATUS:
            self._say(path, f"got null, want {wanted(schema)}")

    def _scalar(self, value: Any, structure: Structure, path: Path) -> None:
        schema = structure.schema
        if fault := kind_fault(value, schema):
            self._faults.append(Fault(path, fault, undecodable=structure.native))
        elif not isinstance(value, dict | list):
            for message in value_faults(value, schema, native=structure.native):
                self._say(path, message)

    def _map(self, value: dict[str, Any], structure: Structure, path: Path) -> None:
        schema, known = structure.schema, structure.fields
        others = schema.get("additionalProperties")
        for key, inner in value.items():
            if (field := known.get(key, others)) and isinstance(field, dict):
                of = structure.inner(field)
                if not (of.is_plain_text and isinstance(inner, str)):  # most are, and cost no call
                    self._value(inner, of, (*path, key))
            elif not (field is True or field == {} or _takes_any(structure)):
                self._faults.append(Fault((*path, key), f"unknown field{did_you_mean(key, known)}", of_key=True))
        if path[:1] != _STATUS:
            for name in schema.get("required", ()):
                if _lacks(value, name, structure):
                    self._say(path, f"no `{render((*path, name))}`, which is required")
            if not structure.native:
                self._size(len(value), schema, path, ("Properties", "entry", "entries"))
            if schema.get("x-kubernetes-embedded-resource") is True:
                self._embedded(value, path)

    def _embedded(self, value: dict[str, Any], path: Path) -> None:
        for name in ("apiVersion", "kind"):
            if not value.get(name):
                self._say(path, f"no `{render((*path, name))}`, which a resource within another needs")

    def _list(self, value: list[Any], structure: Structure, path: Path) -> None:
        items = structure.items
        for index, inner in enumerate(value):
            self._value(inner, items, (*path, index))
        if path[:1] != _STATUS and not structure.native:
            self._size(len(value), structure.schema, path, ("Items", "item", "items"))
            self._repeated(value, structure, path)

    def _size(self, size: int, schema: Schema, path: Path, words: tuple[str, str, str]) -> None:
        what, one, many = words
        got = f"got {size} {one if size == 1 else many}"
        if size < (least := schema.get(f"min{what}", 0)):
            self._say(path, f"{got}, want {least} at least")
        if size > (most := schema.get(f"max{what}", size)):
            self._say(path, f"{got}, want {most} at most")

    def _repeated(self, value: list[Any], structure: Structure, path: Path) -> None:
        """Find what a set, or a list whose entries have keys, holds twice."""
        kind = structure.schema.get("x-kubernetes-list-type")
        if kind not in ("set", "map") and not structure.schema.get("uniqueItems"):
            return
        defaults = structure.items.defaults
        seen: list[Any] = []
        for index, entry in enumerate(value):
            by_key = kind == "map" and isinstance(entry, dict)
            key = [entry.get(name, defaults.get(name)) for name in structure.keys] if by_key else entry
            if (first := next((at for at, other in enumerate(seen) if same(key, other)), None)) is not None:
                what = ", ".join(map(shown, key)) if by_key else shown(entry)
                self._say((*path, index), f"{what} stands there already, at `{render((*path, first))}`")
            seen.append(key)

    def _junctors(self, value: Any, structure: Structure, path: Path) -> None:
        """Check what allOf, anyOf, oneOf and not say: of values alone, as fields are declared outside of them."""
        schema = structure.schema
        for one in schema.get("allOf", ()):
            self._faults += _inside(value, one, path)
        if is_int_or_string(schema):
            return
        if (options := schema.get("anyOf")) and not any(not _inside(value, one, path) for one in options):
            self._say(path, f"fits none of the {len(options)} forms that it can have")
        if options := schema.get("oneOf"):
            fitting = sum(not _inside(value, one, path) for one in options)
            if fitting != 1:
                self._say(path, f"fits {fitting or 'none'} of {len(options)} forms, of which it must have one")
        if "not" in schema and not _inside(value, schema["not"], path):
            self._say(path, "has the one form that it must not have")


def _takes_any(structure: Structure) -> bool:
    schema = structure.schema
    return schema.get(_OPEN) is True or "type" not in schema or (structure.native and not structure.fields)


def _lacks(value: dict[str, Any], name: str, structure: Structure) -> bool:
    """Is a required field not there. A Go type has a value for it, which is refused where it is no number."""
    schema = structure.fields.get(name, {})
    if name in value and (value[name] is not None or schema.get("nullable")):
        return False
    if not structure.native:
        return "default" not in schema
    kind = structure.inner(schema).schema.get("type") if schema else None
    return kind not in ("integer", "boolean", "number") and name not in _MAY_LACK


def _inside(value: Any, schema: Schema, path: Path) -> list[Fault]:
    """Check a value against a schema that stands in another, which has declared its fields."""
    return _Conformity().check(value, Structure({_OPEN: True, **schema}), path)
