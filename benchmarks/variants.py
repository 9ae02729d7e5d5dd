"""The variants of the end-to-end benchmark, made from one set of policies, and brought to an API server."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import trustme
import yaml

from tests.controlplane.plane import ControlPlane
from tests.faults.replica import Replica
from webhook.model.request import Object

NONE, OURS, NATIVE, OTHERS = "none", "ours", "native", "others"
VARIANTS: Final = {
    NONE: "no policy",
    OURS: "our webhook, 16 Pod Security policies",
    NATIVE: "the same 16 as ValidatingAdmissionPolicies",
    OTHERS: "our webhook, 1,000 policies that do not match",
}
"""Each is in force in the namespace of its name."""

_POD_SECURITY: Final = Path(__file__).parent / "policies" / "pod-security"
_API: Final = "admissionregistration.k8s.io/v1"
_PODS: Final = [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE", "UPDATE"]}]


@contextmanager
def in_force(plane: ControlPlane, folder: Path) -> Iterator[list[Replica]]:
    """Serve and register everything; it is in force when the API server says so."""
    security = pod_security("AdmissionPolicy")
    authority = trustme.CA()
    leaf = authority.issue_cert("127.0.0.1")
    leaf.private_key_pem.write_to_path(folder / "tls.key")
    leaf.cert_chain_pems[0].write_to_path(folder / "tls.crt")
    servers = {OURS: _server(folder, OURS, security), OTHERS: _server(folder, OTHERS, _others(security, 1000))}
    with ExitStack() as stack:
        for server in servers.values():
            server.launch()
            stack.callback(server.kill)
        while not all(server.status()["ready"] for server in servers.values()):
            time.sleep(0.1)
        webhooks = [_webhook(name, server, authority.cert_pem.bytes()) for name, server in servers.items()]
        everything = [*map(_namespace, VARIANTS), _configuration(webhooks), *_native(security)]
        (folder / "all.yaml").write_text(yaml.safe_dump_all(everything))
        plane.kubectl("create", "--filename", str(folder / "all.yaml"))
        yield list(servers.values())


def pod_security(kind: str) -> list[Object]:
    """Read the policies, or their tests."""
    documents = (yaml.safe_load(file.read_text()) for file in sorted(_POD_SECURITY.glob("*.yaml")))
    return [document for document in documents if document["kind"] == kind]


def broken() -> list[Object]:
    """Give Pods, each of which breaks a rule: for each policy there are some."""
    cases = [case for suite in pod_security("PolicyTest") for case in suite["cases"]]
    return [case["object"] for case in cases if case["expect"]["outcome"] == "deny" and "object" in case]


def _server(folder: Path, name: str, policies: Iterable[Object]) -> Replica:
    """Make a server with these policies; it is not started yet."""
    (folder / f"{name}.yaml").write_text(yaml.safe_dump_all(policies))
    files = {"tls-cert": "tls.crt", "tls-key": "tls.key", "policies": f"{name}.yaml"}
    return Replica(folder / f"{name}.log", {flag: folder / file for flag, file in files.items()})


def _others(policies: Sequence[Object], count: int) -> Iterator[Object]:
    """Make so many policies about Services, by turns from those given."""
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["services"], "operations": ["CREATE"]}]
    for index in range(count):
        policy = policies[index % len(policies)]
        spec = policy["spec"] | {"matchConstraints": {"resourceRules": rules}}
        yield policy | {"metadata": {"name": f"other-{index}"}, "spec": spec}


def _namespace(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _in(namespace: str) -> Object:
    return {"matchLabels": {"kubernetes.io/metadata.name": namespace}}


def _configuration(webhooks: list[Object]) -> Object:
    kind = "ValidatingWebhookConfiguration"
    return {"apiVersion": _API, "kind": kind, "metadata": {"name": "bench"}, "webhooks": webhooks}


def _webhook(namespace: str, server: Replica, authority: bytes) -> Object:
    """Register a server for the Pods of a namespace, as a cluster would."""
    url, bundle = f"https://127.0.0.1:{server.port}/validate", base64.b64encode(authority).decode()
    return {
        "name": f"{namespace}.example.org",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "timeoutSeconds": 5,
        "namespaceSelector": _in(namespace),
        "clientConfig": {"url": url, "caBundle": bundle},
        "rules": _PODS,
    }


def _native(policies: Iterable[Object]) -> Iterator[Object]:
    """Say the same in Kubernetes' own words: what the policies consist of keeps its name there."""
    for policy in policies:
        name, spec = policy["metadata"]["name"], policy["spec"]
        own = {key: spec[key] for key in ("variables", "validations") if key in spec}
        own["matchConstraints"] = spec["matchConstraints"] | {"namespaceSelector": _in(NATIVE)}
        head = {"apiVersion": _API, "metadata": {"name": name}}
        yield head | {"kind": "ValidatingAdmissionPolicy", "spec": own}
        binding = {"policyName": name, "validationActions": ["Deny"]}
        yield head | {"kind": "ValidatingAdmissionPolicyBinding", "spec": binding}
