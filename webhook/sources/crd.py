"""CustomResourceDefinitions of the kinds that a cluster stores: `python -m webhook.sources.crd` writes the files.

They are made from the formats, so that the API server and the reader of files want the same. What the API server
refuses, its author sees at `kubectl apply`; what only the reader can check comes as a condition of `status`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from webhook.sources.formats.base import Mapped
from webhook.sources.formats.configuration import ExceptionSpec
from webhook.sources.formats.policy import Spec
from webhook.sources.formats.status import ExceptionStatus, PolicyStatus
from webhook.sources.structural import structural

FOLDER: Final = Path(__file__).resolve().parents[2] / "charts" / "cozyguard" / "files" / "crds"
"""Not the chart's `crds`: what is there, Helm never upgrades. A template of the chart reads these files."""

GROUP: Final = "cozyguard.io"
VERSION: Final = "v1alpha1"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of `kubectl get`."""

    name: str
    path: str
    type: str = "string"
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Definition:
    """One kind: its parts, and what kubectl calls and shows of it."""

    kind: str
    plural: str
    short: str
    description: str
    spec: type[Mapped]
    status: type[Mapped]
    columns: tuple[Column, ...]


def _condition(name: str, part: str = "status") -> str:
    return f'.status.conditions[?(@.type=="{name}")].{part}'


DEFINITIONS: Final = (
    Definition(
        "AdmissionPolicy",
        "admissionpolicies",
        "cgp",  # `ap` and `polex` belong to other policy engines, which may run beside
        "What has to be true of objects, and what to tell people when it is not.",
        Spec,
        PolicyStatus,
        (
            Column("Title", ".spec.title"),
            Column("Severity", ".spec.severity"),
            Column("Ready", _condition("Ready")),
            Column("Age", ".metadata.creationTimestamp", "date"),
            Column("Reason", _condition("Ready", "reason"), priority=1),
            Column("Message", _condition("Ready", "message"), priority=1),
        ),
    ),
    Definition(
        "PolicyException",
        "policyexceptions",
        "cge",
        "A documented way past some rules for some objects; it always has an owner and an end.",
        ExceptionSpec,
        ExceptionStatus,
        (
            Column("Policies", ".status.policies"),
            Column("Owner", ".spec.owner"),
            Column("Expires", ".spec.expiresAt"),
            Column("Active", _condition("Active")),
            Column("Reason", _condition("Active", "reason"), priority=1),
            Column("Message", _condition("Active", "message"), priority=1),
        ),
    ),
)


class _Plain(yaml.SafeDumper):
    """Writes what stands at several places at each of them: people read these files too."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the signature is PyYAML's
        return True


def render(definition: Definition) -> str:
    """Write a definition as YAML text, the same each time."""
    return yaml.dump(_definition(definition), Dumper=_Plain, sort_keys=False, allow_unicode=True, width=118)


def path_of(definition: Definition) -> Path:
    """Name the file that a definition is shipped in."""
    return FOLDER / f"{GROUP}_{definition.plural}.yaml"


def _definition(of: Definition) -> dict[str, Any]:
    names = {
        "kind": of.kind,
        "listKind": f"{of.kind}List",
        "plural": of.plural,
        "singular": of.kind.lower(),
        "shortNames": [of.short],
        "categories": ["cozyguard"],
    }
    version = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "additionalPrinterColumns": list(map(_column, of.columns)),
        "schema": {"openAPIV3Schema": _object(of)},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{of.plural}.{GROUP}", "labels": {"app.kubernetes.io/name": "cozyguard"}},
        "spec": {"group": GROUP, "scope": "Cluster", "names": names, "versions": [version]},
    }


def _column(column: Column) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": column.name, "type": column.type, "jsonPath": column.path}
    return entry | ({"priority": column.priority} if column.priority else {})


def _object(of: Definition) -> dict[str, Any]:
    return {
        "type": "object",
        "description": of.description,
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": structural(of.spec),
            "status": structural(of.status),
        },
    }


def main() -> None:
    """Write all files."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for definition in DEFINITIONS:
        path_of(definition).write_text(render(definition), encoding="utf-8")


if __name__ == "__main__":
    main()
