from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import Field, ValidationError

from webhook.model.path import parse
from webhook.sources.formats.base import Mapped
from webhook.sources.policies import Loaded

Load = Callable[..., Loaded]

RULE = {"apiGroups": ["a.b"], "apiVersions": ["v1"], "resources": ["as"], "operations": ["CREATE"]}
VALID: dict[str, Any] = {
    "apiVersion": "cozyguard.io/v1alpha1",
    "kind": "AdmissionPolicy",
    "metadata": {"name": "p", "labels": {"a": "b"}},
    "spec": {
        "title": "t",
        "severity": "low",
        "releases": ">=1.5",
        "validationActions": ["Deny"],
        "matchConstraints": {
            "resourceRules": [RULE],
            "objectSelector": {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]},
        },
        "matchConditions": [{"name": "c", "expression": "a"}],
        "lookups": [{"name": "l", "apiVersion": "v1", "kind": "Pod", "labelSelector": {"matchLabels": {"a": "b"}}}],
        "variables": [{"name": "v", "expression": "a"}],
        "validations": [
            {
                "name": "n",
                "forEach": {"in": "a", "as": "b", "at": "c"},
                "expression": "b",
                "message": "m",
                "field": "spec.a[@]",
                "fix": {"text": "t", "patchExpression": "[]"},
            },
        ],
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": "[]"}}],
        "auditAnnotations": [{"key": "k", "valueExpression": "a"}],
        "sensitiveFields": ["spec.a"],
    },
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def containers(node: Any) -> list[Any]:
    """List every map and list of a document that has something in it."""
    inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    own = [node] if isinstance(node, dict | list) and node else []
    return own + [each for child in inner for each in containers(child)]


@st.composite
def mutilated(draw: st.DrawFn) -> dict[str, Any]:
    """Take a valid policy and drop, rename, repeat or replace something in it, up to three times."""
    document = copy.deepcopy(VALID)
    for _ in range(draw(st.integers(1, 3))):
        container = draw(st.sampled_from(containers(document)))
        key = draw(st.sampled_from(list(container) if isinstance(container, dict) else range(len(container))))
        match draw(st.sampled_from(["drop", "rename", "replace"])), container:
            case "drop", _:
                del container[key]
            case "rename", dict():
                container[draw(st.text(max_size=8))] = container.pop(key)
            case "rename", list():
                container.append(copy.deepcopy(container[key]))
            case _:
                container[key] = draw(JSON)
        if not document:
            break
    return document


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(mutilated())
def test_a_mutilated_policy_is_a_policy_or_errors_with_a_place(load: Load, document: dict[str, Any]) -> None:
    loaded = load(json.dumps(document, indent=1))
    assert bool(loaded.policies) != bool(loaded.errors)
    for error in loaded.errors:
        assert error.file == "p.yaml"
        if error.message != "holds no policies":
            assert error.line > 0
            assert error.column > 0
        assert error.message
        parse(error.path)
        for word in ("Input should", "valid string", "NoneType", "pydantic", "dict"):
            assert word not in error.message.replace(json.dumps(document), "")


def test_every_error_of_every_document_of_every_file_comes_at_once(load: Load) -> None:
    broken = json.dumps(VALID | {"spec": VALID["spec"] | {"severity": "x", "title": 1}})
    loaded = load(f"{broken}\n---\n{json.dumps(VALID | {'metadata': {'name': 'Q'}})}", "a: [", json.dumps(VALID))
    found = [(error.file, error.path) for error in loaded.errors]
    assert found == [
        ("p.yaml", "spec.title"),
        ("p.yaml", "spec.severity"),
        ("p.yaml", "metadata.name"),
        ("q.yaml", ""),
        ("r.yaml", "metadata.name"),
    ]


class Limited(Mapped):
    """Everything by which a format limits a value."""

    number: Annotated[int, Field(ge=1, le=30)]
    some: Annotated[list[str], Field(min_length=1, max_length=2)]
    word: Annotated[str, Field(max_length=3)]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            {"number": 0, "some": [], "word": "abcd"},
            ["got `0`, want at least 1", "empty, want at least one entry", "4 characters, want at most 3"],
        ),
        (
            {"number": 31, "some": ["a", "b", "c"], "word": "abc"},
            ["got `31`, want at most 30", "3 entries, want at most 2"],
        ),
    ],
)
def test_each_limit_is_told_in_words(given: dict[str, Any], told: list[str]) -> None:
    with pytest.raises(ValidationError) as caught:
        Limited.model_validate(given)
    assert [fault["msg"] for fault in caught.value.errors()] == told
