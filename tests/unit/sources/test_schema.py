from __future__ import annotations

import json

import pytest

from webhook.sources import schema
from webhook.sources.formats.base import Mapped
from webhook.sources.formats.policy import AdmissionPolicy


@pytest.mark.parametrize("document", schema.DOCUMENTS, ids=lambda document: document.__name__)
def test_the_shipped_schema_is_current(document: type[Mapped]) -> None:
    shipped = schema.path_of(document).read_text(encoding="utf-8")
    assert shipped == schema.render(document), "run `make generate`"


def test_every_shipped_schema_is_of_a_document() -> None:
    assert {path.name for path in schema.FOLDER.iterdir()} == {
        schema.path_of(document).name for document in schema.DOCUMENTS
    }


def test_an_editor_sees_names_values_and_what_they_are_for() -> None:
    made = json.loads(schema.render(AdmissionPolicy))
    assert made["properties"]["apiVersion"]["const"] == "cozyguard.io/v1alpha1"
    spec = made["$defs"]["Spec"]
    assert spec["additionalProperties"] is False
    assert spec["properties"]["severity"]["enum"] == ["low", "medium", "high", "critical"]
    assert spec["properties"]["releases"]["description"].startswith("On which Cozystack releases")
    assert made["$defs"]["ForEach"]["properties"]["as"]["type"] == "string"
