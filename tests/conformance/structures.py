"""`webhook/admission/structures.json`: how Kubernetes' own kinds are built, as far as merging into them asks.

Made from the OpenAPI documents of a real API server: `python -m tests.conformance.structures` writes it into a checkout.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from tests.controlplane.binaries import find
from tests.controlplane.plane import ControlPlane

FILE: Final = Path(__file__).parents[2] / "webhook" / "admission" / "structures.json"

_KEPT: Final = ("type", "format", "x-kubernetes-map-type", "x-kubernetes-preserve-unknown-fields")
_KINDS: Final = "x-kubernetes-group-version-kind"
_EVERYWHERE: Final = ("DeleteOptions", "WatchEvent", "Status", "APIGroup", "APIResourceList", "APIVersions")
"""Kinds that every group declares, and no object is of."""

_SPECIAL: Final[dict[str, dict[str, Any]]] = {
    "api.resource.Quantity": {"type": "string", "format": "quantity"},
    "runtime.RawExtension": {"x-kubernetes-map-type": "atomic"},
}
"""What the API server reads otherwise than its own OpenAPI says (`schemaconv/openapi.go` of kube-openapi)."""


def structures(plane: ControlPlane) -> str:
    """Write the structures as JSON, one type a line: `kinds` are `group/version/Kind` → type, `types` their schemas."""
    kinds: dict[str, str] = {}
    known: dict[str, Any] = {}
    for document in _documents(plane):
        known |= document
        for name, schema in document.items():
            for one in schema.get(_KINDS, ()):
                if one["kind"] not in _EVERYWHERE and not one["kind"].endswith("List"):
                    kinds["/".join(filter(None, (one["group"], one["version"], one["kind"])))] = _short(name)
    keys = set(_merge_keys(known))
    types = {_short(name): _stripped(schema, keys) for name, schema in known.items()} | _SPECIAL
    used = sorted(_reached(kinds.values(), types))
    lines = ",\n".join(f"{json.dumps(name)}:{json.dumps(types[name], separators=(',', ':'))}" for name in used)
    return f'{{"kinds":{json.dumps(dict(sorted(kinds.items())), indent=0)},\n"types":{{\n{lines}\n}}}}\n'


def _documents(plane: ControlPlane) -> Iterator[dict[str, Any]]:
    """Give the schemas of each group and version that the API server itself has, and no CRD."""
    paths = json.loads(plane.kubectl("get", "--raw", "/openapi/v3"))["paths"]
    for path in sorted(paths):
        root, *rest = path.split("/")
        if len(rest) == {"api": 1, "apis": 2}.get(root) and ("." not in rest[0] or rest[0].endswith(".k8s.io")):
            yield json.loads(plane.kubectl("get", "--raw", f"/openapi/v3/{path}"))["components"]["schemas"]


def _stripped(schema: dict[str, Any], keys: set[str]) -> dict[str, Any]:
    """Leave what says how a value is merged. A reference stands in `allOf` where it has a description beside it."""
    made: dict[str, Any] = {key: schema[key] for key in _KEPT if key in schema}
    if reference := _reference(schema):
        return {"$ref": _short(reference)} | {key: made[key] for key in made if key == "x-kubernetes-map-type"}
    if properties := schema.get("properties"):
        made["properties"] = {name: _stripped(one, keys) for name, one in sorted(properties.items())}
        defaults = {name: properties[name]["default"] for name in sorted(keys) if "default" in properties.get(name, {})}
        made |= {"defaults": defaults} if defaults else {}
    if isinstance(others := schema.get("additionalProperties"), dict):
        made["additionalProperties"] = _stripped(others, keys)
    if "items" in schema:
        made |= {"items": _stripped(schema["items"], keys)} | _list_type(schema)
    return made


def _reference(schema: dict[str, Any]) -> str:
    found = [one["$ref"] for one in (schema, *schema.get("allOf", ())) if "$ref" in one]
    return found[0].rpartition("/")[2] if found else ""


def _list_type(schema: dict[str, Any]) -> dict[str, Any]:
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


def _reached(names: Iterable[str], types: dict[str, Any]) -> set[str]:
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        if (name := waiting.pop()) not in found:
            found.add(name)
            waiting += _references(types[name])
    return found


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(reference := value.get("$ref"), str):
            yield reference
        for inner in value.values():
            yield from _references(inner)


if __name__ == "__main__":
    with ControlPlane(find(say=print)) as running:
        FILE.write_text(structures(running), encoding="utf-8")
