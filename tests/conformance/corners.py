"""Hand-made policies, each for a corner of the language, of matching, of what becomes of a rule, and of mutations.

`corners/*.yaml` is name → what the policy says, without what all have: it is about objects with the label `try`, whose
value is its name, or its own `try`. `for` are resources, `operations` CREATE and UPDATE. A policy with `mutations` is a
MutatingAdmissionPolicy, where `apply` and `patch` are its two kinds of expressions. `bindings` warn and audit, and are
everywhere, if nothing else is said. `since` is the minor of Kubernetes that has the functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from tests.controlplane.versions import DEFAULT
from webhook.model.request import CREATE, UPDATE, Object

LABEL: Final = "try"
FOLDER: Final = Path(__file__).parent / "corners"
CRDS: Final = FOLDER / "crds.yaml"

_RESOURCES: Final[Mapping[str, tuple[str, str]]] = {
    "configmaps": ("", "v1"),
    "namespaces": ("", "v1"),
    "services": ("", "v1"),
    "pods": ("", "v1"),
    "deployments": ("apps", "v1"),
    "gadgets": ("judged.example.org", "v1"),
    "ceilings": ("judged.example.org", "v1"),
    "horizontalpodautoscalers": ("autoscaling", "v1"),
}
_RULE: Final = ("scope", "resourceNames")
_MATCH: Final = ("namespaceSelector", "excludeResourceRules", "matchPolicy")
_OTHER: Final = ("try", "since", "for", "operations", "objectSelector", "bindings", *_RULE, *_MATCH)
_MUTATIONS: Final = {"apply": ("ApplyConfiguration", "applyConfiguration"), "patch": ("JSONPatch", "jsonPatch")}


@dataclass(frozen=True)
class Corner:
    """Policies for the objects of one label, with bindings; `resources` are what they are about."""

    name: str
    resources: tuple[str, ...]
    documents: tuple[Object, ...]


@cache
def corners(minor: str = DEFAULT) -> Mapping[str, Corner]:
    """Read the corners that a minor of Kubernetes has, by the label that asks for them."""
    made: dict[str, Corner] = {}
    for file in sorted(FOLDER.glob("*.yaml")):
        if file.name not in ("crds.yaml", "world.yaml"):
            for name, said in yaml.safe_load(file.read_text(encoding="utf-8")).items():
                if minor < said.get("since", minor):
                    continue
                tried = said.get("try", name)
                before = made.get(tried, Corner(tried, (), ()))
                resources = tuple(dict.fromkeys((*before.resources, *said["for"])))
                made[tried] = Corner(tried, resources, (*before.documents, *_documents(f"corner-{name}", tried, said)))
    return made


def world() -> list[Object]:
    """Read what is there before."""
    return list(yaml.safe_load_all((FOLDER / "world.yaml").read_text(encoding="utf-8")))


def _documents(name: str, tried: str, said: Object) -> Iterator[Object]:
    kind = "MutatingAdmissionPolicy" if "mutations" in said else "ValidatingAdmissionPolicy"
    spec = {key: value for key, value in said.items() if key not in _OTHER}
    spec["matchConstraints"] = _match(tried, said)
    default: Object = {"validationActions": ["Warn", "Audit"]}
    if "mutations" in said:
        spec["mutations"] = list(map(_mutation, said["mutations"]))
        spec.setdefault("reinvocationPolicy", "Never")
        default = {}
    yield _document(kind, name, spec)
    for index, binding in enumerate(said.get("bindings", [default])):
        yield _document(f"{kind}Binding", f"{name}-{index}", {"policyName": name, **binding})


def _document(kind: str, name: str, spec: Object) -> Object:
    return {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def _match(tried: str, said: Object) -> Object:
    common = {"operations": said.get("operations", [CREATE, UPDATE])} | {key: said[key] for key in _RULE if key in said}
    rules = [_rule(resource, common) for resource in said["for"]]
    selector = said.get("objectSelector", {})
    labels = {**selector.get("matchLabels", {}), LABEL: tried}
    match: Object = {key: said[key] for key in _MATCH if key in said}
    return {"resourceRules": rules, "objectSelector": {**selector, "matchLabels": labels}, **match}


def _rule(resource: str, common: Object) -> Object:
    group, version = _RESOURCES[resource]
    return {"apiGroups": [group], "apiVersions": [version], "resources": [resource], **common}


def _mutation(said: Mapping[str, Any]) -> Object:
    ((short, expression),) = said.items()
    patch_type, field = _MUTATIONS[short]
    return {"patchType": patch_type, field: {"expression": expression}}
