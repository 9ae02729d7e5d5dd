"""JSON Schema of the documents people write, for editors: `python -m webhook.sources.schema` writes the files."""

from __future__ import annotations

import ast
import inspect
import json
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from webhook.sources.formats.base import Mapped
from webhook.sources.formats.configuration import Configuration, PolicyException
from webhook.sources.formats.policy import AdmissionPolicy
from webhook.sources.formats.suite import PolicyTest

if TYPE_CHECKING:
    from pydantic_core import core_schema

FOLDER: Final = Path(__file__).resolve().parents[2] / "schemas"
DOCUMENTS: Final[tuple[type[Mapped], ...]] = (AdmissionPolicy, Configuration, PolicyException, PolicyTest)


class ForEditors(GenerateJsonSchema):
    """What an editor shows: the docstrings of the models and of their fields, and no titles made of names."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - the signature is pydantic's
        return False

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        """A field that may be missing may be null too, which nobody needs to be offered."""
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        made = super().default_schema(schema)
        return {key: value for key, value in made.items() if key != "default" or value}

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        made = super().model_schema(schema)
        made.pop("title", None)
        for name, text in _field_docstrings(schema["cls"]).items():
            if name in made.get("properties", {}):
                made["properties"][name]["description"] = text
        return made


def render(document: type[Mapped]) -> str:
    """Write a document's schema as JSON text, the same each time."""
    schema = document.model_json_schema(schema_generator=ForEditors)
    head = {"$schema": GenerateJsonSchema.schema_dialect, "title": document.__name__}
    return json.dumps(head | schema, indent=2, ensure_ascii=False) + "\n"


def path_of(document: type[Mapped]) -> Path:
    """Name the file that a document's schema is shipped in."""
    return FOLDER / f"{document.__name__}.json"


def _field_docstrings(model: type[Mapped]) -> dict[str, str]:
    """Collect the docstrings below the fields of a model and its bases, by the field's written name."""
    found: dict[str, str] = {}
    for base in reversed(model.__mro__):
        source = inspect.getsource(base) if issubclass(base, Mapped) else "None"
        statements = getattr(ast.parse(source).body[0], "body", [])
        for statement, below in pairwise(statements):
            match statement, below:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                    if field := model.model_fields.get(name):
                        found[field.alias or name] = text
    return found


def main() -> None:
    """Write all schema files."""
    FOLDER.mkdir(exist_ok=True)
    for document in DOCUMENTS:
        path_of(document).write_text(render(document), encoding="utf-8")


if __name__ == "__main__":
    main()
