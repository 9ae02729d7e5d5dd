"""CustomResourceDefinitions of the kinds that a cluster stores: `python -m webhook.sources.crd` writes the files.

They are made from the formats, so that the API server and the reader of files want the same. What the API server
refuses, its author sees at `kubectl apply`; what only the reader can check comes as a condition of `status`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

from webhook.sources.formats.base import Mapped, listed
from webhook.sources.formats.configuration import ExceptionSpec
from webhook.sources.formats.fields import RESERVED
from webhook.sources.formats.policy import Spec
from webhook.sources.formats.status import ExceptionStatus, PolicyStatus
from webhook.sources.schema import ForEditors

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import core_schema

FOLDER: Final = Path(__file__).resolve().parents[2] / "charts" / "cozyguard" / "files" / "crds"
"""Not the chart's `crds`: what is there, Helm never upgrades. A template of the chart reads these files."""

GROUP: Final = "cozyguard.io"
VERSION: Final = "v1alpha1"

_TEXT: Final = 100_000
"""Characters of a text that says no limit: CEL's parser takes no longer expression."""
_ENTRIES: Final = 500
"""Entries of a list or a map that says no limit; the API server wants to know what its own rules may cost."""
_KEPT: Final = (
    *("description", "type", "format", "enum", "pattern", "minLength", "maxLength", "minimum"),
    *("minItems", "maxItems", "required", "x-kubernetes-validations"),
)
"""What a structural schema may say of a value itself. Defaults are the reader's: stored objects stay as written."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of `kubectl get`."""

    name: str
    path: str
    type: str = "string"
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Definition:
    """One kind: its parts, and what kubectl calls and shows of it."""

    kind: str
    plural: str
    short: str
    description: str
    spec: type[Mapped]
    status: type[Mapped]
    columns: tuple[Column, ...]


def _condition(name: str, part: str = "status") -> str:
    return f'.status.conditions[?(@.type=="{name}")].{part}'


DEFINITIONS: Final = (
    Definition(
        "AdmissionPolicy",
        "admissionpolicies",
        "cgp",  # `ap` and `polex` belong to other policy engines, which may run beside
        "What has to be true of objects, and what to tell people when it is not.",
        Spec,
        PolicyStatus,
        (
            Column("Title", ".spec.title"),
            Column("Severity", ".spec.severity"),
            Column("Ready", _condition("Ready")),
            Column("Age", ".metadata.creationTimestamp", "date"),
            Column("Reason", _condition("Ready", "reason"), priority=1),
            Column("Message", _condition("Ready", "message"), priority=1),
        ),
    ),
    Definition(
        "PolicyException",
        "policyexceptions",
        "cge",
        "A documented way past some rules for some objects; it always has an owner and an end.",
        ExceptionSpec,
        ExceptionStatus,
        (
            Column("Policies", ".status.policies"),
            Column("Owner", ".spec.owner"),
            Column("Expires", ".spec.expiresAt"),
            Column("Active", _condition("Active")),
            Column("Reason", _condition("Active", "reason"), priority=1),
            Column("Message", _condition("Active", "message"), priority=1),
        ),
    ),
)


_RULES: Final = "x-kubernetes-validations"
_UNIQUE: Final = "x-unique"
"""Between pydantic and us: the field whose value differs between the entries of a list."""


class _ForApiServer(ForEditors):
    """Adds what holds between fields."""

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        made = super().model_schema(schema)
        model: type[Mapped] = schema["cls"]
        rules = dict(map(_at_most_one, model.AT_MOST_ONE)) | dict(model.RULES)
        if rules:
            made[_RULES] = [{"rule": rule, "message": text} for rule, text in rules.items()]
        for name, key in model.UNIQUE.items():
            made["properties"][name][_UNIQUE] = key
        return made


class _Plain(yaml.SafeDumper):
    """Writes what stands at several places at each of them: people read these files too."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the signature is PyYAML's
        return True


def render(definition: Definition) -> str:
    """Write a definition as YAML text, the same each time."""
    return yaml.dump(_definition(definition), Dumper=_Plain, sort_keys=False, allow_unicode=True, width=118)


def path_of(definition: Definition) -> Path:
    """Name the file that a definition is shipped in."""
    return FOLDER / f"{GROUP}_{definition.plural}.yaml"


def _definition(of: Definition) -> dict[str, Any]:
    names = {
        "kind": of.kind,
        "listKind": f"{of.kind}List",
        "plural": of.plural,
        "singular": of.kind.lower(),
        "shortNames": [of.short],
        "categories": ["cozyguard"],
    }
    version = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "additionalPrinterColumns": list(map(_column, of.columns)),
        "schema": {"openAPIV3Schema": _object(of)},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{of.plural}.{GROUP}", "labels": {"app.kubernetes.io/name": "cozyguard"}},
        "spec": {"group": GROUP, "scope": "Cluster", "names": names, "versions": [version]},
    }


def _column(column: Column) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": column.name, "type": column.type, "jsonPath": column.path}
    return entry | ({"priority": column.priority} if column.priority else {})


def _object(of: Definition) -> dict[str, Any]:
    return {
        "type": "object",
        "description": of.description,
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": structural(of.spec),
            "status": structural(of.status),
        },
    }


def structural(model: type[Mapped]) -> dict[str, Any]:
    """Write a format as a structural schema, in which nothing is unbounded and every reference is written out."""
    schema = model.model_json_schema(schema_generator=_ForApiServer)
    return _structural(schema, schema.get("$defs", {}))


def _structural(schema: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        schema = known[schema["$ref"].rpartition("/")[2]] | schema
    made: dict[str, Any] = {key: schema[key] for key in _KEPT if key in schema}
    match schema["type"]:
        case "object" if "properties" in schema:
            made["properties"] = {name: _structural(one, known) for name, one in schema["properties"].items()}
        case "object" if schema["additionalProperties"] is True:
            made["x-kubernetes-preserve-unknown-fields"] = True
        case "object":
            made |= {
                "maxProperties": _ENTRIES,
                "additionalProperties": _structural(schema["additionalProperties"], known),
            }
        case "array":
            made["items"] = _structural(schema["items"], known)
            made = {"maxItems": _ENTRIES} | made | _list_type(schema, made["items"])
        case "string" if "enum" not in schema:
            made = {"maxLength": _TEXT} | made
        case "integer":
            made["format"] = "int64"
    return made


def _list_type(schema: dict[str, Any], items: dict[str, Any]) -> dict[str, Any]:
    """Tell how server-side apply merges a list, which also makes the API server refuse repeated entries."""
    if schema.get("uniqueItems"):
        return {"x-kubernetes-list-type": "set"}
    if (key := schema.get(_UNIQUE)) in items.get("required", ()):
        return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [key]}
    return {"x-kubernetes-list-type": "atomic"}


def _at_most_one(names: tuple[str, ...]) -> tuple[str, str]:
    given = ", ".join(f"has(self.{_escaped(name)})" for name in names)
    return f"[{given}].filter(given, given).size() < 2", f"want at most one of {listed(names)}"


def _escaped(name: str) -> str:
    """Write a field's name as CEL can: the API server has other names for CEL's own words."""
    return f"__{name}__" if name in RESERVED else name


def main() -> None:
    """Write all files."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for definition in DEFINITIONS:
        path_of(definition).write_text(render(definition), encoding="utf-8")


if __name__ == "__main__":
    main()
