"""Pods to measure with: of a given size, some of which break a rule, the same ones for the same seed.

`python -m benchmarks.objects 10000 > pods.yaml` writes a file of them: 10,000 are about 25 MB.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final

from webhook.model.request import Object

SIZES: Final = {"3 KB": 3_000, "20 KB": 20_000, "200 KB": 200_000}
"""The object sizes that the tables show, in bytes of compact JSON."""

BROKEN_SHARE: Final = 0.28
"""How many of the Pods break a rule of the Pod Security Standards."""

_FILE_SIZE: Final = 2_150
"""Bytes of JSON that one Pod of a file has; its YAML is some 2,500."""

_PLAIN: Final = re.compile(r"[A-Za-z][\w./:@-]{2,}")
"""Text that needs no quotes in YAML (the Pods hold no word that means a boolean)."""


def pods(count: int, *, size: int = _FILE_SIZE, seed: int = 1, broken: float = BROKEN_SHARE) -> Iterator[Object]:
    """Make Pods one by one; each breaks one rule or, but for a share of them, none."""
    random = Random(seed)
    for index in range(count):
        obj = pod(random, size, name=f"worker-{index:05}")
        if random.random() < broken:
            random.choice(_FAULTS)(obj["spec"])
        yield obj


def pod(random: Random, size: int, *, name: str = "worker") -> Object:
    """Make a Pod that keeps to all rules, of about `size` bytes of JSON; a larger one has more of everything."""
    containers = [_container(random, f"c{index}") for index in range(2 + size // 20_000)]
    obj: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": f"team-{random.randrange(20)}",
            "labels": {"app": name.partition("-")[0], "tier": random.choice(("web", "batch", "cache"))},
            "annotations": {"example.org/owner": f"team-{random.randrange(20)}@example.org"},
        },
        "spec": {
            "serviceAccountName": "default",
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": random.randrange(1000, 60_000),
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "initContainers": [_container(random, "init")],
            "containers": containers,
            "volumes": [
                {"name": "scratch", "emptyDir": {}},
                {"name": "settings", "configMap": {"name": f"settings-{random.randrange(100)}"}},
            ],
        },
    }
    _fill(random, obj, containers, size)
    return obj


def review(obj: Object, kind: str = "Pod", resource: str = "pods") -> Object:
    """Wrap a Pod in the AdmissionReview that the API server sends when it is created; or as if it were another kind."""
    named_resource = {"group": "", "version": "v1", "resource": resource}
    named_kind = {"group": "", "version": "v1", "kind": kind}
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "00000000-0000-4000-8000-000000000001",
            "kind": named_kind,
            "resource": named_resource,
            "requestKind": named_kind,
            "requestResource": named_resource,
            "name": obj["metadata"]["name"],
            "namespace": obj["metadata"]["namespace"],
            "operation": "CREATE",
            "userInfo": {"username": "dev-1", "groups": ["system:authenticated"]},
            "object": obj,
            "oldObject": None,
            "dryRun": False,
            "options": {"apiVersion": "meta.k8s.io/v1", "kind": "CreateOptions"},
        },
    }


def yaml_lines(value: Any, indent: str = "") -> Iterator[str]:
    """Write an object in block style, as people do; much faster than a library, which matters for 10,000."""
    entries = value.items() if isinstance(value, dict) else ((None, item) for item in value)
    for key, item in entries:
        head = f"{indent}{key}:" if key is not None else f"{indent}-"
        if not isinstance(item, dict | list) or not item:
            plain = isinstance(item, str) and _PLAIN.fullmatch(item)
            yield f"{head} {item if plain else json.dumps(item)}"
        elif key is not None:
            yield head
            yield from yaml_lines(item, indent + "  " if isinstance(item, dict) else indent)
        else:
            first, *rest = yaml_lines(item, indent + "  ")
            yield f"{head} {first.lstrip()}"
            yield from rest


def _container(random: Random, name: str) -> Object:
    return {
        "name": name,
        "image": f"registry.example.org/team/{name}:{random.randrange(100)}",
        "args": ["serve", f"--port={random.randrange(1024, 65_536)}"],
        "env": [],
        "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
        "volumeMounts": [{"name": "scratch", "mountPath": "/tmp"}],  # noqa: S108 - a path in a Pod
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }


def _fill(random: Random, obj: Object, containers: list[Object], size: int) -> None:
    """Grow the containers' environments until the whole has its size."""
    missing = size - len(json.dumps(obj, separators=(",", ":")))
    index = 0
    while missing > 0:
        entry = {"name": f"SETTING_{index}", "value": f"value-{random.randrange(10**12)}"}
        containers[index % len(containers)]["env"].append(entry)
        missing -= len(json.dumps(entry, separators=(",", ":"))) + 1
        index += 1


def _privileged(spec: Object) -> None:
    spec["containers"][0]["securityContext"]["privileged"] = True


def _host_network(spec: Object) -> None:
    spec["hostNetwork"] = True


def _host_path(spec: Object) -> None:
    spec["volumes"].append({"name": "host", "hostPath": {"path": "/var/run"}})


def _host_port(spec: Object) -> None:
    spec["containers"][-1]["ports"][0]["hostPort"] = 8080


def _capability(spec: Object) -> None:
    spec["containers"][-1]["securityContext"]["capabilities"]["add"] = ["SYS_ADMIN"]


def _root(spec: Object) -> None:
    spec["securityContext"]["runAsNonRoot"] = False


def _escalation(spec: Object) -> None:
    del spec["containers"][0]["securityContext"]["allowPrivilegeEscalation"]


_FAULTS: Final[tuple[Callable[[Object], None], ...]] = (
    _privileged,
    _host_network,
    _host_path,
    _host_port,
    _capability,
    _root,
    _escalation,
)


def main() -> None:
    """Write as many Pods as the argument says to standard output, as YAML documents."""
    for obj in pods(int(sys.argv[1])):
        sys.stdout.write("---\n" + "\n".join(yaml_lines(obj)) + "\n")


if __name__ == "__main__":
    main()
