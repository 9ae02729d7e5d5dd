"""OpenAPI v3 documents, as the API server hands them out, read into structures: `kinds`, and the `types` they refer to.

`structures.json` was made by this from the documents of a real API server; people hand us others. Read as the API
server itself reads them: `pkg/schemaconv/openapi.go` of k8s.io/kube-openapi.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

Schema = Mapping[str, Any]

_KEPT: Final = (
    *("type", "format", "enum", "pattern", "nullable", "default", "uniqueItems", "multipleOf"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength"),
    *("minItems", "maxItems", "minProperties", "maxProperties"),
    *("x-kubernetes-map-type", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-int-or-string"),
    "x-kubernetes-embedded-resource",
)
_JUNCTORS: Final = ("allOf", "anyOf", "oneOf")
_KINDS: Final = "x-kubernetes-group-version-kind"
_EVERYWHERE: Final = ("DeleteOptions", "WatchEvent", "Status", "APIGroup", "APIResourceList", "APIVersions")
"""Kinds that every group declares, and no object is of."""

_SPECIAL: Final[dict[str, dict[str, Any]]] = {
    "api.resource.Quantity": {"type": "string", "format": "quantity"},
    "runtime.RawExtension": {"x-kubernetes-map-type": "atomic"},
}
"""What the API server reads otherwise than its own OpenAPI says."""


@dataclass(frozen=True, slots=True)
class Described:
    """What documents describe: `kinds` are `group/version/Kind` → name of a type, `types` the schemas."""

    kinds: Mapping[str, str]
    types: Mapping[str, Schema]


def describe(documents: Iterable[Mapping[str, Schema]]) -> Described:
    """Read the `components.schemas` of documents. Types that no kind is made of are left out."""
    kinds: dict[str, str] = {}
    known: dict[str, Any] = {}
    for schemas in documents:
        known |= schemas
        for name, schema in schemas.items():
            for one in schema.get(_KINDS, ()):
                if one["kind"] not in _EVERYWHERE and not one["kind"].endswith("List"):
                    kinds["/".join(filter(None, (one["group"], one["version"], one["kind"])))] = _short(name)
    keys = set(_merge_keys(known))
    types = {_short(name): _stripped(schema, keys, own=name.startswith("io.k8s.")) for name, schema in known.items()}
    types |= _SPECIAL
    used = sorted(_reached(kinds.values(), types))
    return Described(dict(sorted(kinds.items())), {name: types[name] for name in used if name in types})


def _stripped(schema: Schema, keys: set[str], *, own: bool) -> dict[str, Any]:
    """Leave what says what a value may be, and how it is merged.

    A reference stands in `allOf` where it has a description beside it. `keys` are fields that tell the entries of some
    list apart. Types that are Kubernetes' `own` write down Go's zero values as defaults, which fill in nothing; an
    empty map among them is a struct, which is `always` there once the API server has read the object.
    """
    if reference := _reference(schema):
        return {"$ref": _short(reference)} | {key: schema[key] for key in ("x-kubernetes-map-type",) if key in schema}
    made: dict[str, Any] = {key: schema[key] for key in _KEPT if key in schema and not (own and key == "default")}
    if schema.get("format") != "int-or-string":
        made |= {key: [_stripped(one, keys, own=own) for one in schema[key]] for key in _JUNCTORS if key in schema}
    if "not" in schema:
        made["not"] = _stripped(schema["not"], keys, own=own)
    properties = schema.get("properties", {})
    if properties:
        made["properties"] = {name: _stripped(one, keys, own=own) for name, one in sorted(properties.items())}
        defaults = {name: properties[name]["default"] for name in sorted(keys) if "default" in properties.get(name, {})}
        made |= {"defaults": defaults} if defaults else {}
    if own and (always := [name for name, one in properties.items() if one.get("default") == {}]):
        made["always"] = sorted(always)
    if required := [name for name in schema.get("required", ()) if not (own and properties[name].get("default"))]:
        made["required"] = sorted(required)
    others = schema.get("additionalProperties")
    if others is not None:
        made["additionalProperties"] = others if isinstance(others, bool) else _stripped(others, keys, own=own)
    if "items" in schema:
        made |= {"items": _stripped(schema["items"], keys, own=own)} | _list_type(schema)
    return made


def _reference(schema: Schema) -> str:
    found = [one["$ref"] for one in (schema, *schema.get("allOf", ())) if "$ref" in one]
    return found[0].rpartition("/")[2] if found else ""


def _list_type(schema: Schema) -> dict[str, Any]:
    """Say how a list is merged; older types say it as a strategic merge patch."""
    if "x-kubernetes-list-type" in schema:
        return {key: schema[key] for key in ("x-kubernetes-list-type", "x-kubernetes-list-map-keys") if key in schema}
    if not schema.get("x-kubernetes-patch-strategy", "").startswith("merge"):
        return {}
    key = schema.get("x-kubernetes-patch-merge-key")
    return (
        {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [key]}
        if key
        else {"x-kubernetes-list-type": "set"}
    )


def _merge_keys(value: Any) -> Iterator[str]:
    """Name the fields that tell the entries of some list apart."""
    if isinstance(value, dict):
        yield from value.get("x-kubernetes-list-map-keys", ())
        for inner in value.values():
            yield from _merge_keys(inner)


def _short(name: str) -> str:
    return name.removeprefix("io.k8s.api.").replace("io.k8s.apimachinery.pkg.", "")


def _reached(names: Iterable[str], types: Mapping[str, Schema]) -> set[str]:
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        if (name := waiting.pop()) not in found:
            found.add(name)
            waiting += _references(types.get(name))
    return found


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(reference := value.get("$ref"), str):
            yield reference
        for inner in value.values():
            yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)
