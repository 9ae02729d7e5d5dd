"""The CRDs of reports, written for these tests: closed and structural, with the names and enumerations of upstream."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "integer"}
_REFERENCE_FIELDS = ("apiVersion", "kind", "namespace", "name", "uid", "resourceVersion", "fieldPath")


def _object(*required: str, **fields: Schema) -> Schema:
    return {"type": "object", "properties": fields} | ({"required": list(required)} if required else {})


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _one_of(*words: str) -> Schema:
    return {"type": "string", "enum": list(words)}


_REFERENCE = _object(**dict.fromkeys(_REFERENCE_FIELDS, _TEXT))
_RESULT = _object(
    "policy",
    source=_TEXT,
    policy=_TEXT,
    rule=_TEXT,
    category=_TEXT,
    severity=_one_of("critical", "high", "medium", "low", "info"),
    timestamp=_object("seconds", "nanos", seconds=_NUMBER, nanos=_NUMBER),
    result=_one_of("pass", "fail", "warn", "error", "skip"),
    scored={"type": "boolean"},
    resources=_list(_REFERENCE),
    message=_TEXT,
    properties={"type": "object", "additionalProperties": _TEXT},
)
_REPORT = {
    "scope": _REFERENCE,
    "summary": _object(**dict.fromkeys(("pass", "fail", "warn", "error", "skip"), _NUMBER)),
    "results": _list(_RESULT),
}
_LIMITS = _object(maxResults=_NUMBER, statusFilter=_list(_one_of("pass", "fail", "warn", "error", "skip")))
_OPEN_REPORT = _REPORT | {"source": _TEXT, "configuration": _object("limits", limits=_LIMITS)}


def _definition(group: str, version: str, kind: str, scope: str, fields: dict[str, Schema]) -> dict[str, Any]:
    served = {"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": _object(**fields)}}
    plural = f"{kind.lower()}s"
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {"group": group, "names": {"plural": plural, "kind": kind}, "scope": scope, "versions": [served]},
    }


DEFINITIONS = [
    _definition("wgpolicyk8s.io", "v1alpha2", "PolicyReport", "Namespaced", _REPORT),
    _definition("wgpolicyk8s.io", "v1alpha2", "ClusterPolicyReport", "Cluster", _REPORT),
    _definition("openreports.io", "v1alpha1", "Report", "Namespaced", _OPEN_REPORT),
    _definition("openreports.io", "v1alpha1", "ClusterReport", "Cluster", _OPEN_REPORT),
]
