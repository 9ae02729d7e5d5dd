"""What an ApplyConfiguration comes to: the API server's own MutatingAdmissionPolicy and ours make the same object."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any, Final

import pytest

from tests.conformance.native import OFF, ON, ApiServer, about, bound, decide, namespaces
from tests.controlplane.plane import ControlPlane
from webhook.model.request import Object

DEFINITION: Final[Object] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.conformance.example.org"},
    "spec": {
        "group": "conformance.example.org",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "kind": "Widget"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "text": {"type": "string", "nullable": True},
                                    "number": {"type": "integer"},
                                    "either": {"x-kubernetes-int-or-string": True},
                                    "plain": {"type": "array", "items": {"type": "string"}},
                                    "set": {
                                        "type": "array",
                                        "x-kubernetes-list-type": "set",
                                        "items": {"type": "string"},
                                    },
                                    "map": {
                                        "type": "array",
                                        "x-kubernetes-list-type": "map",
                                        "x-kubernetes-list-map-keys": ["key", "side"],
                                        "items": {
                                            "type": "object",
                                            "required": ["key"],
                                            "properties": {
                                                "key": {"type": "string"},
                                                "side": {"type": "string", "default": "left"},
                                                "value": {"type": "integer"},
                                            },
                                        },
                                    },
                                    "whole": {
                                        "type": "object",
                                        "x-kubernetes-map-type": "atomic",
                                        "additionalProperties": {"type": "string"},
                                    },
                                    "lists": {
                                        "type": "object",
                                        "additionalProperties": {"type": "array", "items": {"type": "string"}},
                                    },
                                    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                                },
                            }
                        },
                    }
                },
            }
        ],
    },
}


def widget(**spec: Any) -> Object:
    return {"apiVersion": "conformance.example.org/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": spec}


def deployment(*containers: Object, **spec: Any) -> Object:
    labels = {"app": "a"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": list(containers), **spec}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d", "labels": {"kept": "1"}},
        "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": template},
    }


A: Final[Object] = {
    "name": "a",
    "image": "one",
    "env": [{"name": "X", "value": "1"}, {"name": "Y", "value": "2"}],
    "ports": [
        {"containerPort": 80, "protocol": "TCP", "name": "http"},
        {"containerPort": 53, "protocol": "UDP", "name": "dns"},
    ],
}
B: Final[Object] = {"name": "b", "image": "two", "args": ["x"]}
WIDGET: Final = widget(
    text="t",
    number=1,
    either="50%",
    plain=["p", "q"],
    set=["x", "y", "z"],
    map=[{"key": "a", "value": 1}, {"key": "b"}, {"key": "a", "side": "right"}],
    whole={"a": "1"},
    lists={"l": ["1", "2"]},
    free={"a": {"b": 1}, "l": [1, 2]},
)

_POD: Final = "Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{%s}}}}"
_CONTAINERS: Final = _POD % "containers: [%s]"
_CONTAINER: Final = "Object.spec.template.spec.containers{%s}"


def in_containers(*texts: str) -> str:
    return _CONTAINERS % ", ".join(_CONTAINER % text for text in texts)


CASES: Final[list[tuple[str, str, Object]]] = [
    ("labels", "Object{metadata: Object.metadata{labels: {'new': '2', 'kept': '3'}}}", deployment(A)),
    ("nothing", "Object{}", deployment(A)),
    ("scalar", "Object{spec: Object.spec{replicas: object.spec.replicas + 2}}", deployment(A)),
    ("container", in_containers("name: 'b', tty: true"), deployment(A, B)),
    ("new-container", in_containers("name: 'c', image: 'three'"), deployment(A, B)),
    ("order", in_containers("name: 'n', image: 'new'", "name: 'b'", "name: 'a'"), deployment(A, B)),
    (
        "env",
        in_containers("name: 'a', env: [Object.spec.template.spec.containers.env{name: 'Z', value: '3'}]"),
        deployment(A),
    ),
    (
        "env-over",
        in_containers("name: 'a', env: [Object.spec.template.spec.containers.env{name: 'X', value: '9'}]"),
        deployment(A),
    ),
    (
        "env-twice",
        in_containers("name: 'a', env: [Object.spec.template.spec.containers.env{name: 'X', value: '9'}]"),
        deployment({**A, "env": [*A["env"], {"name": "X", "value": "3"}]}),
    ),
    (
        "ports",
        in_containers(
            "name: 'a', ports: [Object.spec.template.spec.containers.ports{containerPort: 80, hostPort: 80}]"
        ),
        deployment(A),
    ),
    (
        "ports-udp",
        in_containers(
            "name: 'a', ports: [Object.spec.template.spec.containers.ports{containerPort: 53, protocol: 'UDP', hostPort: 53}]"
        ),
        deployment(A),
    ),
    ("args", in_containers("name: 'b', args: ['y']"), deployment(A, B)),
    ("tolerations", _POD % "tolerations: [Object.spec.template.spec.tolerations{key: 'a'}]", deployment(A)),
    ("node-selector", _POD % "nodeSelector: {'a': 'b'}", deployment(A)),
    ("selector", "Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {'b': 'c'}}}}", deployment(A)),
    ("unknown-field", _POD % "hostnam: 'a'", deployment(A)),
    ("wrong-type", _POD % "hostname: 1", deployment(A)),
    ("no-name", in_containers("image: 'three'"), deployment(A)),
    ("same-name", in_containers("name: 'c', image: 'x'", "name: 'c', image: 'y'"), deployment(A)),
    ("none-given", _POD % "?hostname: optional.none(), nodeName: 'n'", deployment(A, hostname="h")),
    ("none-scalar", _POD % "hostname: optional.none()", deployment(A, hostname="h")),
    ("none-map", _POD % "securityContext: optional.none()", deployment(A, securityContext={"runAsUser": 1})),
    (
        "none-atomic-list",
        _POD % "tolerations: optional.none()",
        deployment(A, tolerations=[{"key": "a", "operator": "Exists"}]),
    ),
    ("none-atomic-map", _POD % "nodeSelector: optional.none()", deployment(A, nodeSelector={"a": "b"})),
    ("none-merged-list", _POD % "imagePullSecrets: optional.none()", deployment(A, imagePullSecrets=[{"name": "s"}])),
    ("empty-list", _POD % "imagePullSecrets: []", deployment(A, imagePullSecrets=[{"name": "s"}])),
    ("empty-map", "Object{metadata: Object.metadata{annotations: {}}}", deployment(A)),
    (
        "condition",
        "has(object.spec.template.spec.hostname) ? Object{} : " + _POD % "hostname: 'made'",
        deployment(A),
    ),
    (
        "computed",
        _POD
        % "containers: object.spec.template.spec.containers.map(c, Object.spec.template.spec.containers{name: c.name, imagePullPolicy: 'Always'})",
        deployment(A, B),
    ),
    (
        "quantity",
        in_containers(
            "name: 'a', resources: Object.spec.template.spec.containers.resources{limits: {'cpu': '1', 'memory': '1Gi'}}"
        ),
        deployment({**A, "resources": {"limits": {"cpu": "2", "example.org/gpu": "1"}}}),
    ),
    (
        "volumes",
        _POD
        % "volumes: [Object.spec.template.spec.volumes{name: 'v', emptyDir: Object.spec.template.spec.volumes.emptyDir{medium: 'Memory'}}]",
        deployment(A),
    ),
    (
        "finalizers",
        "Object{metadata: Object.metadata{finalizers: ['e.org/b', 'e.org/a']}}",
        deployment(A) | {"metadata": {"name": "d", "finalizers": ["e.org/a"]}},
    ),
    ("widget-text", "Object{spec: Object.spec{text: 'u', number: 2}}", WIDGET),
    ("widget-int-or-string", "Object{spec: Object.spec{either: 5}}", WIDGET),
    ("widget-set", "Object{spec: Object.spec{set: ['n', 'y', 'x']}}", WIDGET),
    ("widget-set-same", "Object{spec: Object.spec{set: ['z', 'x', 'n', 'y']}}", WIDGET),
    ("widget-set-twice", "Object{spec: Object.spec{set: ['n', 'n']}}", WIDGET),
    ("widget-map", "Object{spec: Object.spec{map: [Object.spec.map{key: 'a', value: 5}]}}", WIDGET),
    (
        "widget-map-two-keys",
        "Object{spec: Object.spec{map: [Object.spec.map{key: 'a', side: 'right', value: 5}, Object.spec.map{key: 'n'}]}}",
        WIDGET,
    ),
    ("widget-map-no-key", "Object{spec: Object.spec{map: [Object.spec.map{value: 5}]}}", WIDGET),
    ("widget-plain", "Object{spec: Object.spec{plain: ['p']}}", WIDGET),
    ("widget-plain-empty", "Object{spec: Object.spec{plain: []}}", WIDGET),
    ("widget-whole", "Object{spec: Object.spec{whole: {'b': '2'}}}", WIDGET),
    ("widget-lists", "Object{spec: Object.spec{lists: {'l': ['3'], 'm': ['4']}}}", WIDGET),
    ("widget-free", "Object{spec: Object.spec{free: Object.spec.free{a: Object.spec.free.a{c: 2}, l: [3]}}}", WIDGET),
    ("widget-none", "Object{spec: Object.spec{text: optional.none(), number: optional.none()}}", WIDGET),
    (
        "widget-none-lists",
        "Object{spec: Object.spec{plain: optional.none(), set: optional.none(), map: optional.none()}}",
        WIDGET,
    ),
    ("widget-unknown", "Object{spec: Object.spec{nothing: 1}}", WIDGET),
    ("widget-metadata", "Object{metadata: Object.metadata{labels: {'a': 'b'}}}", WIDGET),
    ("widget-float", "Object{spec: Object.spec{number: 1.5}}", WIDGET),
]


def documents(name: str, expression: str, group: str, resource: str) -> list[Object]:
    spec = {
        "matchConstraints": about(group, resource),
        "matchConditions": [{"name": "case", "expression": f"object.metadata.name == '{name}'"}],
        "failurePolicy": "Fail",
        "reinvocationPolicy": "Never",
        "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}],
    }
    return bound("MutatingAdmissionPolicy", f"apply-{name}", spec)


def of_case(name: str, expression: str, obj: Object) -> list[Object]:
    widgets = obj["kind"] == "Widget"
    group, resource = ("conformance.example.org", "widgets") if widgets else ("apps", "deployments")
    return documents(name, expression, group, resource)


@pytest.fixture(scope="module")
def server(control_plane: ControlPlane) -> Iterator[ApiServer]:
    """The API server with the policies of all cases in force, each for the object of its name."""
    made = ApiServer(control_plane)
    made.ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION)
    control_plane.kubectl(
        "wait", "--for=condition=Established", "--timeout=30s", f"crd/{DEFINITION['metadata']['name']}"
    )
    every = [document for name, expression, obj in CASES for document in of_case(name, expression, obj)]
    made.close()
    with closing(ApiServer(control_plane)) as made, namespaces(made):
        with made.enforcing(every):
            _until_merged(made)
            yield made
        made.ask("DELETE", f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{DEFINITION['metadata']['name']}")


def _until_merged(server: ApiServer) -> None:
    """Wait until the API server knows how a Widget is built: it looks every five seconds."""
    named = {**WIDGET, "metadata": {"name": "widget-text"}}
    end = time.monotonic() + 60
    while not server.create(named, ON).allowed:
        assert time.monotonic() < end
        time.sleep(0.2)


WIDER: Final = {
    "widget-lists": "a list within a map literal, `{'l': ['3']}`, does not convert in the API server",
    "widget-none": "in a custom resource the API server writes null for what is unset, which only a nullable field may be",
    "widget-none-lists": "the same",
}
"""What the API server refuses and ours does."""


@pytest.mark.parametrize(("name", "expression", "obj"), CASES, ids=[name for name, _, _ in CASES])
def test_both_make_the_same_object(name: str, expression: str, obj: Object, server: ApiServer) -> None:
    named = {**obj, "metadata": {**obj["metadata"], "name": name}}
    theirs = server.create(named, ON)
    ours = decide(of_case(name, expression, obj), server_sees(server, named), cluster=[DEFINITION])
    said = theirs.message, [finding.message for finding in ours.findings]
    if not ours.allowed or ours.object is None:
        assert not theirs.allowed, said
        return
    stored = server.create({**ours.object, "metadata": {**ours.object["metadata"], "namespace": OFF}}, OFF)
    assert stored.allowed == (theirs.allowed or name in WIDER), said
    if theirs.allowed:
        assert json.dumps(stored.object, sort_keys=True) == json.dumps(theirs.object, sort_keys=True)


def server_sees(server: ApiServer, obj: Object) -> Object:
    """Give the object with its defaults, as policies are asked about it."""
    answer = server.create(obj, OFF)
    assert answer.allowed, answer.message
    return {**answer.object, "metadata": obj["metadata"]}
