"""Documents of other tools in which something is not what it should be: told, and never a traceback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from webhook.model.path import Path
from webhook.sources.compiled import compile_files
from webhook.sources.policy_files import PolicyFile

RULE = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}
DOCUMENTS: list[Any] = [
    {
        "apiVersion": "policies.kyverno.io/v1",
        "kind": "NamespacedValidatingPolicy",
        "metadata": {"name": "p", "namespace": "a", "annotations": {"policies.kyverno.io/severity": "high"}},
        "spec": {
            "autogen": {"podControllers": {"controllers": ["jobs"]}},
            "evaluation": {"mode": "Kubernetes", "background": {"enabled": True}},
            "matchConstraints": {"resourceRules": [RULE]},
            "variables": [{"name": "v", "expression": "resource.Get('v1', 'pods', object.metadata.name)"}],
            "validations": [{"expression": "object.spec.a == variables.v", "message": "m"}],
        },
    },
    {
        "apiVersion": "policies.kyverno.io/v1",
        "kind": "MutatingPolicy",
        "metadata": {"name": "p"},
        "spec": {
            "matchConstraints": {"resourceRules": [RULE]},
            "mutations": [
                {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{spec: Object.spec{}}"}}
            ],
        },
    },
    {
        "apiVersion": "templates.gatekeeper.sh/v1",
        "kind": "ConstraintTemplate",
        "metadata": {"name": "a"},
        "spec": {
            "crd": {"spec": {"names": {"kind": "A"}, "validation": {"openAPIV3Schema": {"properties": {"a": {}}}}}},
            "targets": [
                {
                    "target": "admission.k8s.gatekeeper.sh",
                    "code": [
                        {
                            "engine": "K8sNativeValidation",
                            "source": {"validations": [{"expression": "variables.params.a == variables.anyObject"}]},
                        }
                    ],
                }
            ],
        },
    },
    {
        "apiVersion": "constraints.gatekeeper.sh/v1beta1",
        "kind": "A",
        "metadata": {"name": "a"},
        "spec": {
            "match": {"kinds": [{"apiGroups": [""], "kinds": ["Pod"]}], "namespaces": ["a*"], "name": "*b"},
            "parameters": {"a": [1, {"b": None}]},
        },
    },
]
JUNK: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, -1, 1.5, "", "'", "a b", "*", "resource.Get('v1',", "Object{", [], {}, [None], {"a": {"b": []}}]
)


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    yield path
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from places(value[key], (*path, key))


PLACES = [(index, path) for index, document in enumerate(DOCUMENTS) for path in places(document) if path]


def torn(value: Any, path: Path, junk: Any) -> Any:
    """Put something else at a path, as far as there is one."""
    if not path:
        return junk
    step, *rest = path
    if isinstance(value, dict):
        return {**value, step: torn(value.get(step), tuple(rest), junk)}
    if isinstance(value, list) and isinstance(step, int):
        return [torn(part, tuple(rest), junk) if index == step else part for index, part in enumerate(value)]
    return value


@settings(max_examples=150)
@given(st.lists(st.tuples(st.sampled_from(PLACES), JUNK), min_size=1, max_size=2))
def test_whatever_is_wrong_is_told(changes: list[tuple[tuple[int, Path], Any]]) -> None:
    documents = list(DOCUMENTS)
    for (index, path), junk in changes:
        documents[index] = torn(documents[index], path, junk)
    text = "\n---\n".join(map(json.dumps, documents)).encode()
    compile_files([PolicyFile("p.yaml", text, strict=True, root="p.yaml")])
