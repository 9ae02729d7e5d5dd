"""Params: a real API server evaluates a native policy with the objects that ours evaluates it with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.conformance.native import ON, ApiServer, about, bound, decide, namespaces
from tests.controlplane.plane import ControlPlane
from webhook.model.request import Object

KIND = {"apiVersion": "v1", "kind": "ConfigMap"}
LIMITS: list[Object] = [
    {**KIND, "metadata": {"name": "conformance-five", "labels": {"limit": "all"}}, "data": {"most": "5"}},
    {**KIND, "metadata": {"name": "conformance-three", "labels": {"limit": "all"}}, "data": {"most": "3"}},
]
REFERENCES = {
    "by-name": {"name": "conformance-five", "parameterNotFoundAction": "Deny"},
    "by-selector": {"selector": {"matchLabels": {"limit": "all"}}, "parameterNotFoundAction": "Deny"},
    "none-deny": {"name": "conformance-none", "parameterNotFoundAction": "Deny"},
    "none-allow": {"name": "conformance-none", "parameterNotFoundAction": "Allow"},
    "elsewhere": {"name": "conformance-five", "namespace": "default", "parameterNotFoundAction": "Deny"},
    "nothing-picked": {"selector": {"matchLabels": {"limit": "no"}}, "parameterNotFoundAction": "Deny"},
}


def documents(name: str) -> list[Object]:
    spec = {
        "matchConstraints": {**about("apps", "deployments"), "objectSelector": {"matchLabels": {"case": name}}},
        "failurePolicy": "Fail",
        "paramKind": KIND,
        "validations": [{"expression": "object.spec.replicas <= int(params.data.most)", "message": "too many"}],
    }
    reference = {"paramRef": REFERENCES[name], "validationActions": ["Deny"]}
    return bound("ValidatingAdmissionPolicy", f"params-{name}", spec, **reference)


@pytest.fixture(scope="module")
def server(control_plane: ControlPlane) -> Iterator[ApiServer]:
    with closing(ApiServer(control_plane)) as made, namespaces(made):
        for one in LIMITS:
            made.create(one, ON, dry_run=False)
        with made.enforcing([document for name in REFERENCES for document in documents(name)]):
            yield made


@pytest.mark.parametrize("replicas", [3, 4, 6])
@pytest.mark.parametrize("name", REFERENCES)
def test_both_find_the_same_params(name: str, replicas: int, server: ApiServer) -> None:
    labels = {"app": "a"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "a", "image": "one"}]}}
    obj = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": {"case": name}},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template},
    }
    cluster = [{**one, "metadata": {**one["metadata"], "namespace": ON}} for one in LIMITS]
    theirs, ours = server.create(obj, ON), decide(documents(name), obj, cluster=cluster)
    assert theirs.allowed == ours.allowed, (theirs.message, ours.findings)
