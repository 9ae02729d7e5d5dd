"""A format as a structural schema (`apiextensions.k8s.io/v1`): what the API server checks of an object by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from webhook.sources.formats.base import Mapped, listed
from webhook.sources.formats.fields import RESERVED
from webhook.sources.schema import ForEditors

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import core_schema

_TEXT: Final = 100_000
"""Characters of a text that says no limit: CEL's parser takes no longer expression."""
_ENTRIES: Final = 500
"""Entries of a list or a map that says no limit; the API server wants to know what its own rules may cost."""
_KEPT: Final = (
    *("description", "type", "format", "enum", "pattern", "minLength", "maxLength", "minimum"),
    *("minItems", "maxItems", "required", "x-kubernetes-validations"),
)
"""What a structural schema may say of a value itself. Defaults are the reader's: stored objects stay as written."""
_RULES: Final = "x-kubernetes-validations"
_UNIQUE: Final = "x-unique"
"""Between pydantic and us: the field whose value differs between the entries of a list."""


def structural(model: type[Mapped]) -> dict[str, Any]:
    """Write a format as a structural schema, in which nothing is unbounded and every reference is written out."""
    schema = model.model_json_schema(schema_generator=_ForApiServer)
    return _structural(schema, schema.get("$defs", {}))


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
