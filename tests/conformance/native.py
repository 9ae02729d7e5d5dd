"""The same policies, the same request, two who decide: a real API server by itself, and our engine."""

from __future__ import annotations

import json
import re
import secrets
import ssl
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPSConnection
from typing import Any, Final
from urllib.parse import urlsplit

from tests.controlplane.plane import ControlPlane
from webhook.admission.plurals import Plurals
from webhook.admission.synthesize import Circumstances, synthesize
from webhook.engine.compile import compile_policy
from webhook.engine.context import Context
from webhook.engine.pipeline import review
from webhook.engine.policyset import PolicySet
from webhook.model.decision import Decision
from webhook.model.request import CREATE, UPDATE, GroupVersionKind, Object, UserInfo
from webhook.sources import catalog, policies
from webhook.sources.objects import ObjectStore
from webhook.sources.policy_files import PolicyFile

ON: Final = "conformance-on"
"""The namespace in which the API server's own policies hold."""
OFF: Final = "conformance-off"
"""The one in which they do not: what our engine has made of an object is sent there."""

_GROUP: Final = "admissionregistration.k8s.io"
_PATIENCE: Final = 60.0
_NEVER_ALIKE: Final = ("uid", "creationTimestamp", "namespace", "managedFields", "generation", "resourceVersion")


@dataclass(frozen=True)
class Answer:
    """What the API server says to a request; `object` is as it would be stored."""

    code: int
    body: Object
    warnings: tuple[str, ...] = ()
    audit_id: str = ""

    @property
    def allowed(self) -> bool:
        return self.code < 300

    @property
    def message(self) -> str:
        return str(self.body.get("message", ""))

    @property
    def object(self) -> Object:
        """The object without what no two have alike."""
        metadata = {key: value for key, value in self.body["metadata"].items() if key not in _NEVER_ALIKE}
        return {**self.body, "metadata": metadata}


class ApiServer:
    """Asks an API server of a control plane, the first one if no other is named, over one connection."""

    def __init__(self, plane: ControlPlane, url: str = "", token: str = "") -> None:
        self._token = token or plane.token
        self._mutating_version = plane.mutating_version
        context = ssl.create_default_context(cafile=str(plane.certificate))
        self._connection = HTTPSConnection(urlsplit(url or plane.url).netloc, context=context, timeout=30)
        self.plurals = Plurals(json.loads(plane.kubectl("get", "crds", "--output", "json"))["items"])

    def close(self) -> None:
        self._connection.close()

    def ask(self, method: str, path: str, obj: Object | None = None) -> Answer:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        self._connection.request(method, path, None if obj is None else json.dumps(obj), headers)
        response = self._connection.getresponse()
        given = response.headers.get_all("Warning") or ()
        texts = (text.encode("latin-1").decode() for text in given)
        warnings = tuple(json.loads(match[1]) for text in texts if (match := re.match(r"299 - (\".*\")", text)))
        content = response.read()
        is_json = response.headers.get_content_type() == "application/json"
        body = json.loads(content) if is_json else {"message": content.decode()}
        return Answer(response.status, body, warnings, response.headers["Audit-Id"])

    def create(self, obj: Object, namespace: str, *, dry_run: bool = True) -> Answer:
        """Create an object in a namespace, but for good only where that is asked for."""
        return self.ask("POST", f"{self.collection(obj, namespace)}{'?dryRun=All' if dry_run else ''}", obj)

    def collection(self, obj: Object, namespace: str) -> str:
        kind = _kind(obj)
        root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
        place = f"/namespaces/{namespace}" if self.plurals.namespaced(kind) else ""
        return f"{root}{place}/{self.plurals.resource(kind)}"

    @contextmanager
    def enforcing(self, documents: Sequence[Object]) -> Iterator[None]:
        """Have native policies in force while the block runs, and no longer."""
        sentinel = f"sentinel-{secrets.token_hex(4)}"
        paths = [self._put(one) for one in (*documents, *_sentinels(sentinel))]
        try:
            self._wait(sentinel, in_force=True)
            yield
        finally:
            for path in paths:
                self.ask("DELETE", path)
            self._wait(sentinel, in_force=False)

    def _put(self, obj: Object) -> str:
        if obj["kind"].startswith("MutatingAdmission"):
            obj = {**obj, "apiVersion": f"{_GROUP}/{self._mutating_version}"}
        answer = self.create(obj, "", dry_run=False)
        assert answer.allowed, f"{obj['kind']} {obj['metadata']['name']}: {answer.message}"
        return f"{self.collection(obj, '')}/{obj['metadata']['name']}"

    def _wait(self, sentinel: str, *, in_force: bool) -> None:
        """Wait for the policies that were made, or deleted, last, of both kinds: then the others are done, too."""
        end = time.monotonic() + _PATIENCE
        probe = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": sentinel}}
        while (f"{sentinel}: changed and seen" in self.create(probe, ON).message) is not in_force:
            assert time.monotonic() < end, "the API server does not take up its own policies"
            time.sleep(0.1)


@contextmanager
def namespaces(server: ApiServer) -> Iterator[None]:
    """Have the two namespaces."""
    for name in (ON, OFF):
        server.ask("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    yield


def decide(documents: Iterable[Object], obj: Object, namespace: str = ON, **circumstances: Any) -> Decision:
    """Let our engine decide about the same, with the same documents."""
    return review(linked(documents), *question(obj, namespace, **circumstances))


def linked(documents: Iterable[Object]) -> PolicySet:
    """Load native documents as files are loaded."""
    text = "\n---\n".join(map(json.dumps, documents))
    loaded = policies.read([PolicyFile("native.yaml", text.encode(), strict=True, root="native.yaml")])
    assert not loaded.errors, list(map(str, loaded.errors))
    return PolicySet.link(map(compile_policy, loaded.policies))


def question(
    obj: Object,
    namespace: str,
    *,
    old: Object | None = None,
    cluster: Iterable[Object] = (),
    plurals: Plurals | None = None,
) -> tuple[Any, Context]:
    """Make the request that creates (or updates) an object in a namespace, as the administrator's."""
    placed = {**obj, "metadata": {**obj["metadata"], "namespace": namespace}} if namespace else obj
    store = ObjectStore(cluster, closed_world=True)
    user = UserInfo("admin", ("system:masters", "system:authenticated"))
    request = synthesize(placed, plurals or store, Circumstances(UPDATE if old else CREATE, user=user), old)
    return request, Context(catalog.newest(), store)


def _kind(obj: Object) -> GroupVersionKind:
    return GroupVersionKind.of(obj)


def bound(kind: str, name: str, spec: Object, **binding: Any) -> list[Object]:
    """Make a native policy that holds in the namespace `ON`, and its binding."""
    selector = {"matchLabels": {"kubernetes.io/metadata.name": ON}}
    version = f"{_GROUP}/v1"
    return [
        {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec},
        {
            "apiVersion": version,
            "kind": f"{kind}Binding",
            "metadata": {"name": name},
            "spec": {"policyName": name, "matchResources": {"namespaceSelector": selector}, **binding},
        },
    ]


def about(group: str, *resources: str) -> Object:
    """Match the creation and update of these resources."""
    operations = [CREATE, UPDATE]
    return {
        "resourceRules": [
            {"apiGroups": [group], "apiVersions": ["*"], "resources": list(resources), "operations": operations}
        ]
    }


def _sentinels(name: str) -> list[Object]:
    """Make one policy of each kind: what the one writes, the other refuses. They are known by a name of their own."""
    conditions = [{"name": "sentinel", "expression": f"object.metadata.name == '{name}'"}]
    label = "Object{metadata: Object.metadata{labels: {'sentinel': 'seen'}}}"
    seen = "!has(object.metadata.labels) || !('sentinel' in object.metadata.labels)"
    common = {"matchConstraints": about("", "configmaps"), "matchConditions": conditions, "failurePolicy": "Ignore"}
    mutations = [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": label}}]
    validations = [{"expression": seen, "message": f"{name}: changed and seen"}]
    return [
        *bound("MutatingAdmissionPolicy", name, {**common, "mutations": mutations, "reinvocationPolicy": "Never"}),
        *bound(
            "ValidatingAdmissionPolicy",
            name,
            {**common, "validations": validations},
            validationActions=["Deny"],
        ),
    ]
