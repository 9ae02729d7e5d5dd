"""Requests to try: objects for each corner, and those of the bundled policies' own tests, changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from hypothesis import strategies as st

from tests.conformance.corners import CRDS, LABEL, Corner, corners, world
from tests.conformance.exported import SUITES, askable, documents, namespace
from tests.conformance.judges import Judges, Trial, judging
from tests.conformance.native import ON
from tests.conformance.objects import Schemas, changed
from tests.controlplane.plane import ControlPlane
from webhook.model.request import CREATE, DELETE, UPDATE, GroupVersionKind, Object
from webhook.model.suite import Case

CASES: Final[tuple[Case, ...]] = tuple(case for file in SUITES for case in askable(file))

_CONTAINER: Final[Object] = {"name": "a", "image": "one", "ports": [{"containerPort": 80, "name": "http"}]}
_TEMPLATE: Final[Object] = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [_CONTAINER]}}
_PORT: Final[Object] = {"port": 80, "name": "http"}
_TARGET: Final[Object] = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}
_METRIC: Final[Object] = {
    "type": "Resource",
    "resource": {"name": "memory", "target": {"type": "Utilization", "averageUtilization": 5}},
}
_BASES: Final[Mapping[str, tuple[Object, ...]]] = {
    "configmaps": ({"apiVersion": "v1", "kind": "ConfigMap"},),
    "namespaces": ({"apiVersion": "v1", "kind": "Namespace"},),
    "services": (
        {"apiVersion": "v1", "kind": "Service", "spec": {"selector": {"app": "a"}, "ports": [_PORT]}},
        {"apiVersion": "v1", "kind": "Service", "spec": {"type": "ExternalName", "externalName": "e.example.org"}},
    ),
    "pods": ({"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [_CONTAINER]}},),
    "deployments": (
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": _TEMPLATE},
        },
    ),
    "gadgets": (
        {"apiVersion": "judged.example.org/v1", "kind": "Gadget", "spec": {}},
        {"apiVersion": "judged.example.org/v1beta1", "kind": "Gadget", "spec": {}},
    ),
    "ceilings": ({"apiVersion": "judged.example.org/v1", "kind": "Ceiling", "spec": {"most": 1}},),
    "horizontalpodautoscalers": (
        {
            "apiVersion": "autoscaling/v1",
            "kind": "HorizontalPodAutoscaler",
            "spec": {"scaleTargetRef": _TARGET, "maxReplicas": 3},
        },
        {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "spec": {"scaleTargetRef": _TARGET, "maxReplicas": 3, "metrics": [_METRIC]},
        },
    ),
}
_ON: Final = "judged-on"
_OFF: Final = "judged-off"
_SETTLED: Final[Object] = {"name": "a", "namespace": _ON, "labels": {LABEL: "with-params"}}
"""Of an object that is changed by params, once the API server knows its kind and theirs."""

_CLUSTER_SCOPED: Final = ("namespaces", "ceilings")
_OPERATIONS: Final = (CREATE, CREATE, UPDATE, UPDATE, DELETE)


@contextmanager
def arena(plane: ControlPlane) -> Iterator[Judges]:
    """Have all policies in force, of the corners and exported ones, and all there that they look at."""
    minor = plane.binaries.minor
    policies = [one for corner in corners(minor).values() for one in corner.documents] + documents(minor)
    names = {namespace(case) for case in CASES} | {ON}
    spaces = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in sorted(names)]
    plane.install(CRDS)
    try:
        with judging(plane, policies, [*world(), *spaces]) as judges:
            judges.settle([Trial(CREATE, {**_BASES["gadgets"][0], "metadata": _SETTLED})])
            yield judges
    finally:
        plane.kubectl("delete", "--filename", str(CRDS))


def trials(schemas: Schemas, minor: str) -> st.SearchStrategy[Trial]:
    """Draw a request: two of three for a corner."""
    corner = st.sampled_from(list(corners(minor).values())).flatmap(lambda one: of_corner(one, schemas))
    case = st.sampled_from(CASES).flatmap(lambda one: of_case(one, schemas))
    return st.one_of(corner, corner, case)


@st.composite
def of_corner(draw: st.DrawFn, corner: Corner, schemas: Schemas) -> Trial:
    """Draw a request about an object that a corner's policies look at."""
    resource = draw(st.sampled_from(corner.resources))
    name = draw(st.sampled_from("abc"))
    place = "" if resource in _CLUSTER_SCOPED else draw(st.sampled_from((_ON, _ON, _OFF)))
    base = draw(st.sampled_from(_BASES[resource]))
    operation = draw(st.sampled_from(_OPERATIONS))
    kept = {"name": name, "namespace": place} if place else {"name": f"judged-{operation.lower()}-{name}"}

    def one() -> Object:
        metadata = {**kept, "labels": {LABEL: corner.name, **draw(_LABELS)}, **draw(_ANNOTATIONS)}
        made = draw(changed(base, schemas.of(GroupVersionKind.of(base))))
        if resource == "gadgets":
            made["spec"] = draw(schemas.of(GroupVersionKind.of(base)).fields["spec"].values(1))
        if resource == "configmaps":
            made["data"] = draw(_MUCH_OR_LITTLE if corner.name.startswith("budget") else _DATA)
        return {**made, "metadata": metadata}

    return Trial(operation, one(), one() if operation == UPDATE else None)


@st.composite
def of_case(draw: st.DrawFn, case: Case, schemas: Schemas) -> Trial:
    """Draw a request about an object of the bundled policies' own tests."""
    assert case.object is not None
    made = draw(changed(case.object, schemas.of(GroupVersionKind.of(case.object))))
    operation = draw(st.sampled_from(_OPERATIONS)) if case.object["metadata"].get("name") else CREATE
    return Trial(operation, made, case.object if operation == UPDATE else None)


_LABELS: Final = st.fixed_dictionaries({}, optional={"shape": st.sampled_from(("round", "square", ""))})
_ANNOTATIONS: Final = st.sampled_from(({}, {"annotations": {"a": "b"}}))
_VALUES: Final = st.sampled_from(("", "x", "7", "-1", "abcd", "two\nlines", " "))
_DATA: Final[st.SearchStrategy[Any]] = st.dictionaries(st.sampled_from("abcd"), _VALUES, max_size=4)
_MUCH_OR_LITTLE: Final = st.sampled_from(({}, {"a": "x"}, {f"k{number}": "x" for number in range(150)}))
