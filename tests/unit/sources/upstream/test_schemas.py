from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from webhook.admission.structures import described
from webhook.sources.checkout import Checkout
from webhook.sources.schemas import conform
from webhook.sources.upstream.schemas import kinds

DEFINITION = """\
spec:
  group: cozystack.io
  names: {kind: Package}
  versions:
  - name: v1alpha1
    schema:
      openAPIV3Schema:
        description: words
        type: object
        properties:
          description: {type: string, description: words}
          spec: {type: object, properties: {variant: {type: string, x-kubernetes-validations: [{rule: 'true'}]}}}
"""
APPLICATION = """\
spec:
  application:
    kind: Bucket
    openAPISchema: '{"title": "Values", "type": "object", "properties": {"size": {"type": "integer", "default": 1}, "free": {"type": "object"}}}'
"""
OPERATOR = "image: quay.io/kubevirt/virt-operator:v1.8.4\n"
GO = "".join(
    f'\t"{kind}": `openAPIV3Schema:\n  type: object\n  properties:\n    spec: {{type: object}}\n`,\n'
    for kind in ("kubevirt", "virtualmachine", "virtualmachineinstance")
)


def repository(folder: Path, tag: str, files: Mapping[str, str]) -> Checkout:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for line in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "one"], ["tag", tag]):
        subprocess.run([*git, *line], check=True)
    return Checkout(str(folder), tag)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, object]]:
    crds = "internal/crdinstall/manifests"
    ours = {
        f"{crds}/cozystack.io_packages.yaml": DEFINITION,
        f"{crds}/cozystack.io_packagesources.yaml": DEFINITION.replace("Package", "PackageSource"),
        "packages/system/application-definition-crd/definition/cozystack.io_applicationdefinitions.yaml": (
            DEFINITION.replace("Package", "ApplicationDefinition")
        ),
        "packages/system/bucket-rd/cozyrds/bucket.yaml": APPLICATION,
        "packages/system/kubevirt-operator/templates/kubevirt-operator.yaml": OPERATOR,
    }
    kubevirt = tmp_path_factory.mktemp("kubevirt")
    go = "pkg/virt-operator/resource/generate/components/validations_generated.go"
    repository(kubevirt, "v1.8.4", {go: f"package components\n\nvar CRDsValidation = map[string]string{{\n{GO}}}\n"})
    return kinds(repository(tmp_path_factory.mktemp("cozystack"), "v1.6.0", ours), str(kubevirt))


def test_every_kind_of_the_trees_is_read(found: dict[str, dict[str, object]]) -> None:
    machines = {f"kubevirt.io/{v}/{k}" for v in ("v1", "v1alpha3") for k in ("KubeVirt", "VirtualMachine")}
    assert machines < set(found)
    assert {name for name in found if "cozystack" in name} == {
        "cozystack.io/v1alpha1/Package",
        "cozystack.io/v1alpha1/PackageSource",
        "cozystack.io/v1alpha1/ApplicationDefinition",
        "apps.cozystack.io/v1alpha1/Bucket",
    }


def test_words_are_left_out_and_a_field_of_that_name_is_not(found: dict[str, dict[str, object]]) -> None:
    package = found["cozystack.io/v1alpha1/Package"]
    assert "words" not in json.dumps(package)
    assert "x-kubernetes-validations" not in json.dumps(package)
    assert not conform({"metadata": {}, "description": "a"}, described(package))


def test_values_of_an_application_are_its_spec(found: dict[str, dict[str, object]]) -> None:
    structure = described(found["apps.cozystack.io/v1alpha1/Bucket"])
    obj = {"metadata": {}, "appVersion": "*", "spec": {"size": "1", "free": {"a": 1}, "other": 1}}
    assert [fault.message for fault in conform(obj, structure)] == [
        "got `1`, want a whole number",
        "unknown field",
    ]
