from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from webhook.errors import DocumentErrors
from webhook.model.request import GroupVersionKind
from webhook.sources.objects import ObjectStore
from webhook.sources.schemas import Schemas, conform, read

KIND = GroupVersionKind("example.org", "v1", "Thing")
DEFINITION: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "things.example.org"},
    "spec": {
        "group": "example.org",
        "scope": "Cluster",
        "names": {"kind": "Thing", "plural": "things"},
        "versions": [
            {
                "name": "v1",
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"size": {"type": "integer"}}}},
            }
        ],
    },
}


def document(**types: Any) -> str:
    return json.dumps({"openapi": "3.0.0", "components": {"schemas": types}})


def test_a_definition_says_how_its_kind_is_built(tmp_path: Path) -> None:
    (tmp_path / "crds.yaml").write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [DEFINITION]}))
    structure = Schemas("1.6", read([str(tmp_path)])).of(KIND, "things")
    assert structure
    assert [fault.message for fault in conform({"metadata": {}, "size": "a"}, structure)] == [
        "got `a`, want a whole number"
    ]


def test_a_document_of_openapi_says_how_its_kinds_are_built(tmp_path: Path) -> None:
    thing = {
        "type": "object",
        "x-kubernetes-group-version-kind": [{"group": "example.org", "version": "v1", "kind": "Thing"}],
        "properties": {
            "metadata": {"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"},
            "part": {"description": "a part", "allOf": [{"$ref": "#/components/schemas/org.example.Part"}]},
        },
    }
    part = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
    file = tmp_path / "v1.json"
    file.write_text(document(**{"org.example.Thing": thing, "org.example.Part": part}))
    structure = Schemas("1.6", read([str(file)])).of(KIND, "things")
    assert structure
    obj = {"metadata": {"labels": {"a": 1}}, "part": {}}
    assert [fault.message for fault in conform(obj, structure)] == [
        "got `1`, want text; put it in quotes",
        "no `part.name`, which is required",
    ]


def test_a_definition_among_the_objects_at_hand_counts() -> None:
    assert Schemas("1.6", cluster=ObjectStore([DEFINITION])).of(KIND, "things")
    assert not Schemas("1.6", cluster=ObjectStore()).of(KIND, "things")


def test_what_is_no_schema_is_said_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("apiVersion: v1\nkind: Pod\n")
    with pytest.raises(DocumentErrors, match="want a CustomResourceDefinition") as raised:
        read([str(file), str(tmp_path / "gone.yaml")])
    assert [(each.file, each.line) for each in raised.value] == [(str(file), 2), (str(tmp_path / "gone.yaml"), 0)]


def test_of_a_release_that_nobody_has_read_applications_are_not_known() -> None:
    bucket = GroupVersionKind("apps.cozystack.io", "v1alpha1", "Bucket")
    package = GroupVersionKind("cozystack.io", "v1alpha1", "Package")
    assert Schemas("1.6").of(bucket, "buckets")
    assert not Schemas("9.9").of(bucket, "buckets")
    assert Schemas("9.9").of(package, "packages")
