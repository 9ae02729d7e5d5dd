"""Schemas of the kinds that Cozystack serves, read from the source trees of Cozystack and KubeVirt.

`python -m webhook.sources.upstream.schemas COZYSTACK KUBEVIRT` writes `webhook/admission/cozystack.json` from two git
repositories. It holds facts that are Apache-2.0 upstream: fields, types and bounds, without descriptions. What a tag of
the catalogue has is read from that tag; KubeVirt's kinds are read at the version that Cozystack's operator installs.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml_rs

from webhook.model.release import Release
from webhook.sources import catalog
from webhook.sources.checkout import Checkout

FILE: Final = Path(__file__).resolve().parents[2] / "admission" / "cozystack.json"

_WORDS: Final = ("description", "title", "example", "examples", "externalDocs")
_ELSEWHERE: Final = ("x-kubernetes-validations", "x-cozystack-options")
"""Rules in CEL, which nobody here evaluates, and what Cozystack's dashboard reads."""
_CRDS: Final = (
    "internal/crdinstall/manifests/cozystack.io_packages.yaml",
    "internal/crdinstall/manifests/cozystack.io_packagesources.yaml",
    "packages/system/application-definition-crd/definition/cozystack.io_applicationdefinitions.yaml",
)
_APPLICATIONS: Final = re.compile(r"packages/system/[^/]+/cozyrds/[^/]+\.yaml")
_KUBEVIRT: Final = "packages/system/kubevirt-operator/templates/kubevirt-operator.yaml"
_KUBEVIRT_TAG: Final = re.compile(r"/virt-operator:(v[0-9.]+)")
_VALIDATIONS: Final = "pkg/virt-operator/resource/generate/components/validations_generated.go"
_VALIDATION: Final = re.compile(r'^\t"([a-z]+)": `(.*?)`,$', re.DOTALL | re.MULTILINE)
_MACHINES: Final = ("KubeVirt", "VirtualMachine", "VirtualMachineInstance")
_MACHINE_VERSIONS: Final = ("v1", "v1alpha3")
"""`ApiSupportedVersions` of `kubevirt.io`."""

Kinds = dict[str, dict[str, Any]]
"""`group/version/Kind` → schema."""


def kinds(cozystack: Checkout, kubevirt_folder: str) -> Kinds:
    """Read the schemas of one release."""
    found: Kinds = {}
    for path in _CRDS:
        found |= _of_definition(_loaded(cozystack.read(path) or ""))
    for path in cozystack.under("packages/system", ".yaml"):
        if _APPLICATIONS.fullmatch(path):
            found |= _of_application(_loaded(cozystack.read(path) or ""))
    if tag := _KUBEVIRT_TAG.search(cozystack.read(_KUBEVIRT) or ""):
        found |= _machines(Checkout(kubevirt_folder, tag[1]))
    return found


def _loaded(text: str) -> Any:
    return yaml_rs.loads(text, parse_datetime=False)


def _of_definition(definition: Mapping[str, Any]) -> Kinds:
    spec = definition["spec"]
    return {
        f"{spec['group']}/{version['name']}/{spec['names']['kind']}": _bare(version["schema"]["openAPIV3Schema"])
        for version in spec["versions"]
    }


def _of_application(definition: Mapping[str, Any]) -> Kinds:
    """Make the schema of a tenant's application: `spec` are the values of its chart.

    Its other fields are those of `pkg/apis/apps/v1alpha1/types.go`.
    """
    application = definition["spec"]["application"]
    schema = {
        "type": "object",
        "properties": {
            "appVersion": {"type": "string"},
            "spec": _opened(_bare(json.loads(application["openAPISchema"]))),
            "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        },
    }
    return {f"apps.cozystack.io/v1alpha1/{application['kind']}": schema}


def _opened(schema: Any) -> Any:
    """Say of maps without fields that they are free: so are they to Helm, who reads these schemas, and to no CRD."""
    if isinstance(schema, list):
        return list(map(_opened, schema))
    if not isinstance(schema, dict):
        return schema
    made = {key: _opened(value) for key, value in schema.items()}
    if made.get("type") == "object" and not ({"properties", "additionalProperties"} & made.keys()):
        made["x-kubernetes-preserve-unknown-fields"] = True
    return made


def _machines(kubevirt: Checkout) -> Kinds:
    written = dict(_VALIDATION.findall(kubevirt.read(_VALIDATIONS) or ""))
    schemas = {kind: _bare(_loaded(written[kind.lower()])["openAPIV3Schema"]) for kind in _MACHINES}
    return {f"kubevirt.io/{version}/{kind}": schemas[kind] for version in _MACHINE_VERSIONS for kind in _MACHINES}


def _bare(schema: Any, *, names: bool = False) -> Any:
    """Leave words out; what stands below `properties` are `names`, and none of them is."""
    if isinstance(schema, list):
        return [_bare(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    left_out = () if names else (*_WORDS, *_ELSEWHERE)
    return {
        key: value
        if key in ("default", "enum") and not names
        else _bare(value, names=key == "properties" and not names)
        for key, value in sorted(schema.items())
        if key not in left_out
    }


def render(cozystack_folder: str, kubevirt_folder: str) -> str:
    """Write the schemas of all releases as JSON, one type a line; a type that has not changed is written once."""
    releases: dict[str, dict[str, str]] = {}
    types: dict[str, str] = {}
    for entry in map(catalog.load, catalog.releases()):
        if not entry.documented_only:
            named = dict(
                _named(kinds(Checkout(cozystack_folder, entry.facts["source"]), kubevirt_folder), types, entry)
            )
            releases[str(entry.version)] = dict(sorted(named.items()))
    lines = ",\n".join(f"{json.dumps(name)}:{text}" for text, name in types.items())
    return f'{{"releases":{json.dumps(releases, indent=0)},\n"types":{{\n{lines}\n}}}}\n'


def _named(found: Kinds, types: dict[str, str], entry: Release) -> Iterator[tuple[str, str]]:
    """Name each kind's type: after the kind and the release that brought it."""
    for kind, schema in found.items():
        text = json.dumps(schema, separators=(",", ":"))
        yield kind, types.setdefault(text, f"{kind.rpartition('/')[2]}@{entry.version}")


if __name__ == "__main__":
    FILE.write_text(render(*sys.argv[1:]), encoding="utf-8")
