"""How objects are built, as far as merging into them asks: which lists have keys, and what is one value.

Kubernetes' own kinds are in `structures.json`, made from the OpenAPI of a real API server, and Cozystack's in
`cozystack.json`, made from its source tree; others are in their CRD. All are OpenAPI schemas, read here as the API
server reads them for its own merging: `pkg/schemaconv/openapi.go` of k8s.io/kube-openapi.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any, Final

from webhook.model.request import GroupVersionKind, Object

Schema = Mapping[str, Any]

KUBERNETES: Final = "1.36"
"""The release whose API server `structures.json` was made from."""

DEFINITION: Final = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
"""Where the structure of all other kinds is: apiVersion and kind."""

_OPEN: Final = "x-kubernetes-preserve-unknown-fields"
_OF_PLAIN_TEXT: Final = frozenset({"type", "default", "nullable"})
_ANYTHING: Final[Schema] = {}
_OF_OBJECTS: Final[Schema] = {
    "apiVersion": {"type": "string"},
    "kind": {"type": "string"},
    "metadata": {"$ref": "apis.meta.v1.ObjectMeta"},
}
"""What the API server adds to the schema of every custom resource."""

_SCALARS: Final = {"integer": "a number", "number": "a number", "boolean": "true or false"}
ANY_SCALAR: Final = "text, a number, true or false"


@dataclass(frozen=True)
class Structure:
    """One value's structure. `keeps_unknown`: somebody above said `x-kubernetes-preserve-unknown-fields`.

    A schema without a type takes everything: maps are merged key by key, lists are one value. `types` are those that
    it may refer to, besides Kubernetes' own. `native`: the API server has a Go type for it, which it decodes into.
    """

    schema: Schema
    keeps_unknown: bool = False
    types: Schema | None = None
    native: bool = False

    @cached_property
    def _open(self) -> bool:
        return self.keeps_unknown or self.schema.get(_OPEN) is True

    @cached_property
    def is_plain_text(self) -> bool:
        """Is every text allowed."""
        return self.schema.keys() <= _OF_PLAIN_TEXT and self.schema.get("type") == "string"

    @cached_property
    def is_map(self) -> bool:
        """Can the value be a map."""
        return self.schema.get("type") == "object" or self._untyped

    @cached_property
    def is_list(self) -> bool:
        """Can the value be a list."""
        return self.schema.get("type") == "array" or self._untyped

    @property
    def _untyped(self) -> bool:
        return "type" not in self.schema and not self.schema.keys() & {"format", "x-kubernetes-int-or-string"}

    @property
    def scalar(self) -> str:
        """What a scalar may be here, in words; "" where none can stand."""
        kind = self.schema.get("type")
        if kind == "string" and self.schema.get("format", "byte") == "byte":
            return "text"
        return "" if kind in ("object", "array") else _SCALARS.get(str(kind), ANY_SCALAR)

    @property
    def replaces_map(self) -> bool:
        """Is a map here one value."""
        return self.schema.get("x-kubernetes-map-type") == "atomic"

    @property
    def replaces_list(self) -> bool:
        """Is a list here one value."""
        return self.schema.get("x-kubernetes-list-type") not in ("map", "set")

    @property
    def keys(self) -> tuple[str, ...]:
        """The fields that tell the entries of a list apart; none for a set of scalars."""
        return tuple(self.schema.get("x-kubernetes-list-map-keys", ()))

    @property
    def defaults(self) -> Schema:
        """Values of the fields that tell entries apart, for entries that leave them out."""
        return self.schema.get("defaults") or {
            name: one["default"] for name, one in self.fields.items() if "default" in one
        }

    @cached_property
    def fields(self) -> Schema:
        """The fields that are declared, with their schemas."""
        found: Schema = self.schema.get("properties", {})
        return found

    def field(self, name: str) -> Structure | None:
        """Give the structure of a field, or of the value of a key; None where no such field can be."""
        if name in self.fields:
            return self.inner(self.fields[name])
        others = self.schema.get("additionalProperties")
        if isinstance(others, Mapping):
            return self.inner(others)
        free = others is True or (others is None and (self._open or not self.fields))
        return Structure({}) if free else None

    @property
    def items(self) -> Structure:
        """The structure of a list's entries."""
        return self.inner(self.schema.get("items", _ANYTHING))

    def inner(self, schema: Schema) -> Structure:
        """Give the structure of a schema that stands in this one, the same each time."""
        if (known := self._inner.get(id(schema))) is None:
            known = self._inner[id(schema)] = self._made(schema)
        return known

    @cached_property
    def _inner(self) -> dict[int, Structure]:
        return {}

    def _made(self, schema: Schema) -> Structure:
        if "$ref" in schema:
            overrides = {key: value for key, value in schema.items() if key != "$ref"}
            if self.types and (known := self.types.get(schema["$ref"])):
                return Structure({**known, **overrides}, types=self.types)
            return (
                _own(schema["$ref"])
                if not overrides
                else Structure({**_own(schema["$ref"]).schema, **overrides}, native=True)
            )
        if schema.get("x-kubernetes-embedded-resource") is True:
            schema = _with_metadata(schema)
        return Structure(schema, self._open, self.types, self.native)


def builtin(kind: GroupVersionKind) -> Structure | None:
    """Give the structure of a kind of Kubernetes itself."""
    name = _table()["kinds"].get(f"{kind.api_version}/{kind.kind}")
    return _own(name) if name else None


@cache
def _own(name: str) -> Structure:
    """Give one of Kubernetes' own types; one that an OpenAPI document refers to and does not have takes everything."""
    return Structure(_table()["types"].get(name, _ANYTHING), native=True)


def is_read(release: str) -> bool:
    """Were the structures of a release read from its source; else the newest that is known stands for it."""
    return release in _cozystack()["releases"]


def cozystack(kind: GroupVersionKind, release: str) -> Structure | None:
    """Give the structure of a kind of Cozystack, or of KubeVirt in it, as a release (`1.6`) has it."""
    table = _cozystack()
    known = table["releases"].get(release) or next(reversed(table["releases"].values()))
    name = known.get(f"{kind.api_version}/{kind.kind}")
    return _described(name) if name else None


@cache
def _described(name: str) -> Structure:
    return described(_cozystack()["types"][name])


def kinds(release: str = "") -> Iterator[GroupVersionKind]:
    """Give all kinds that `builtin` knows, and `cozystack` of a release."""
    for name in (*_table()["kinds"], *(_cozystack()["releases"].get(release, ()))):
        group, version, kind = name.split("/") if name.count("/") == 2 else ("", *name.split("/"))
        yield GroupVersionKind(group, version, kind)


def is_builtin_group(group: str) -> bool:
    """Are the kinds of this group Kubernetes' own."""
    return group in _groups()


def defined(definition: Object, version: str) -> Structure | None:
    """Give the structure that a CustomResourceDefinition says a version has."""
    for served in definition.get("spec", {}).get("versions", ()):
        if served.get("name") == version:
            return described(served.get("schema", {}).get("openAPIV3Schema", {"type": "object"}))
    return None


def described(schema: Schema, types: Schema | None = None) -> Structure:
    """Give the structure of a custom resource that has this schema, which may refer to `types`."""
    return Structure(_with_metadata(schema), types=types)


def _with_metadata(schema: Schema) -> Schema:
    return {**schema, "properties": {**schema.get("properties", {}), **_OF_OBJECTS}}


@cache
def _table() -> Mapping[str, Any]:
    return _read("structures.json")


@cache
def _cozystack() -> Mapping[str, Any]:
    return _read("cozystack.json")


def _read(name: str) -> Mapping[str, Any]:
    table: Mapping[str, Any] = json.loads(files("webhook.admission").joinpath(name).read_bytes())
    return table


@cache
def _groups() -> frozenset[str]:
    return frozenset(name.split("/")[0] if name.count("/") == 2 else "" for name in _table()["kinds"])
