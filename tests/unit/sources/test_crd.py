from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from webhook.sources import crd
from webhook.sources.crd import Definition
from webhook.sources.formats.base import Mapped
from webhook.sources.formats.configuration import ExceptionSpec
from webhook.sources.formats.policy import Spec

of_each_kind = pytest.mark.parametrize("definition", crd.DEFINITIONS, ids=lambda definition: definition.kind)


def schema_of(definition: Definition) -> dict[str, Any]:
    whole = yaml.safe_load(crd.render(definition))
    schema: dict[str, Any] = whole["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    return schema


def parts(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for one in (
        *schema.get("properties", {}).values(),
        *(schema[key] for key in ("items", "additionalProperties") if key in schema),
    ):
        yield from parts(one)


@of_each_kind
def test_the_shipped_definition_is_current(definition: Definition) -> None:
    shipped = crd.path_of(definition).read_text(encoding="utf-8")
    assert shipped == crd.render(definition), "run `make generate`"


def test_every_shipped_definition_is_of_a_kind() -> None:
    assert {file.name for file in crd.FOLDER.iterdir()} == {crd.path_of(one).name for one in crd.DEFINITIONS}


@of_each_kind
def test_nothing_is_unbounded_and_nothing_is_free_form(definition: Definition) -> None:
    bounds = {"string": {"maxLength", "enum"}, "array": {"maxItems"}, "object": {"properties", "maxProperties"}}
    for part in parts(schema_of(definition)):
        assert part.keys() & bounds[part["type"]], part


@pytest.mark.parametrize(("definition", "model"), list(zip(crd.DEFINITIONS, (Spec, ExceptionSpec), strict=True)))
def test_no_field_of_a_format_is_missing(definition: Definition, model: type[Mapped]) -> None:
    assert list(schema_of(definition)["properties"]) == model.field_names()


def test_entries_that_have_a_name_are_merged_by_it() -> None:
    fields = schema_of(crd.DEFINITIONS[0])["properties"]
    assert fields["variables"]["x-kubernetes-list-map-keys"] == ["name"]
    assert fields["auditAnnotations"]["x-kubernetes-list-map-keys"] == ["key"]
    assert fields["validations"]["x-kubernetes-list-type"] == "atomic"  # a rule need not have a name
    assert fields["validationActions"]["x-kubernetes-list-type"] == "set"


def test_a_field_named_with_a_word_of_cel_is_escaped_in_rules() -> None:
    (_, rule) = schema_of(crd.DEFINITIONS[0])["properties"]["lookups"]["items"]["x-kubernetes-validations"]
    assert rule["rule"] == "[has(self.__namespace__), has(self.namespaceExpression)].filter(given, given).size() < 2"
    assert rule["message"] == "want at most one of `namespace`, `namespaceExpression`"
