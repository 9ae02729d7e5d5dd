"""`webhook/admission/structures.json`: how Kubernetes' own kinds are built.

Made from the OpenAPI documents of a real API server: `python -m tests.conformance.structures` writes it into a checkout.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tests.controlplane.binaries import find
from tests.controlplane.plane import ControlPlane
from webhook.admission.openapi import describe

FILE: Final = Path(__file__).parents[2] / "webhook" / "admission" / "structures.json"


def structures(plane: ControlPlane) -> str:
    """Write the structures as JSON, one type a line."""
    found = describe(_documents(plane))
    lines = ",\n".join(f"{json.dumps(name)}:{_compact(schema)}" for name, schema in found.types.items())
    return f'{{"kinds":{json.dumps(found.kinds, indent=0)},\n"types":{{\n{lines}\n}}}}\n'


def _compact(schema: Any) -> str:
    return json.dumps(schema, separators=(",", ":"))


def _documents(plane: ControlPlane) -> Iterator[dict[str, Any]]:
    """Give the schemas of each group and version that the API server itself has, and no CRD."""
    paths = json.loads(plane.kubectl("get", "--raw", "/openapi/v3"))["paths"]
    for path in sorted(paths):
        root, *rest = path.split("/")
        if len(rest) == {"api": 1, "apis": 2}.get(root) and ("." not in rest[0] or rest[0].endswith(".k8s.io")):
            yield json.loads(plane.kubectl("get", "--raw", f"/openapi/v3/{path}"))["components"]["schemas"]


if __name__ == "__main__":
    with ControlPlane(find(say=print)) as running:
        FILE.write_text(structures(running), encoding="utf-8")
