"""Who last set a field."""

from __future__ import annotations

from typing import Any

import pytest

from webhook.model.path import parse
from webhook.runs.audit.managers import set_by

OBJECT: dict[str, Any] = {
    "metadata": {"name": "a", "labels": {"app.kubernetes.io/name": "x"}},
    "spec": {
        "variant": "container",
        "gates": ["A", "B"],
        "ports": [{"port": 80, "name": "web"}, {"port": 443, "name": "tls"}],
        "set": ["x", "y"],
        "default": 1,
    },
}
FLUX: dict[str, Any] = {
    "f:metadata": {"f:labels": {".": {}, "f:app.kubernetes.io/name": {}}},
    "f:spec": {
        ".": {},
        "f:variant": {},
        "f:gates": {},
        "f:ports": {'k:{"port":80}': {".": {}, "f:port": {}, "f:name": {}}, 'k:{"port":443}': {".": {}, "f:port": {}}},
        "f:set": {'v:"x"': {}},
    },
}
HAND: dict[str, Any] = {
    "f:spec": {"f:variant": {}, "f:ports": {'k:{"port":443}': {"f:name": {}}}, "f:set": {'v:"y"': {}}}
}


def entry(manager: str, time: str, fields: Any) -> dict[str, Any]:
    return {"manager": manager, "operation": "Apply", "time": time, "fieldsType": "FieldsV1", "fieldsV1": fields}


def owner(path: str, *entries: dict[str, Any]) -> str:
    obj = OBJECT | {"metadata": OBJECT["metadata"] | {"managedFields": list(entries)}}
    found = set_by(obj, parse(path))
    return found.manager if found else ""


@pytest.mark.parametrize(
    ("path", "manager"),
    [
        ("spec.variant", "kubectl-edit"),
        ("spec.gates", "helm-controller"),
        ("spec.gates[1]", "helm-controller"),
        ("spec.ports[0].name", "helm-controller"),
        ("spec.ports[1].name", "kubectl-edit"),
        ("spec.ports[1].port", "helm-controller"),
        ("spec.set[0]", "helm-controller"),
        ("spec.set[1]", "kubectl-edit"),
        ('metadata.labels["app.kubernetes.io/name"]', "helm-controller"),
        ("spec", "kubectl-edit"),
        ("spec.default", ""),
        ("spec.missing", ""),
        ("", ""),
    ],
)
def test_the_last_manager_that_owns_the_field_is_named(path: str, manager: str) -> None:
    entries = (
        entry("kubectl-edit", "2026-02-01T00:00:00Z", HAND),
        entry("helm-controller", "2026-01-01T00:00:00Z", FLUX),
    )
    assert owner(path, *entries) == manager


@pytest.mark.parametrize(
    ("manager", "by_hand"),
    [
        ("kubectl-edit", True),
        ("kubectl-client-side-apply", True),
        ("k9s", True),
        ("helm-controller", False),
        ("kustomize-controller", False),
        ("virt-operator", False),
        ("kube-controller-manager", False),
        ("terraform", None),
        ("", None),
    ],
)
def test_people_are_told_from_controllers_where_the_name_tells(manager: str, by_hand: bool | None) -> None:
    obj = {"spec": {"a": 1}, "metadata": {"managedFields": [entry(manager, "t", {"f:spec": {"f:a": {}}})]}}
    found = set_by(obj, ("spec", "a"))
    assert found
    assert found.by_hand is by_hand


@pytest.mark.parametrize("fields", [None, [], "x", {"f:spec": None}, {"f:spec": []}, {"x": {}}])
def test_entries_of_another_shape_say_nothing(fields: Any) -> None:
    assert owner("spec.variant", entry("a", "t", fields)) == ""
