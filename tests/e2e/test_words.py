"""What a person reads at kubectl, as a whole: denials of both kinds, warnings, patches."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.e2e.guard import Guard, World
from tests.e2e.kubectl import Kubectl, Object

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "manifests").glob("*.yaml"))
Golden = Callable[[str, str], None]
Make = Callable[..., Object]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_answered_as_it_says(
    registered: Guard, kubectl_anew: Kubectl, golden: Golden, example: Path
) -> None:
    text = example.read_text()
    registered.serve(World("1.6", tuple(yaml.safe_load_all(text))))
    (kubectl_anew.folder / example.name).write_text(text)
    shown = kubectl_anew("apply", "--dry-run=server", "--filename", example.name)
    golden(f"e2e/example-{example.stem}.txt", shown.text)


@pytest.mark.parametrize("name", ["allowed", "tenant-cluster"])
def test_an_example_that_is_let_through_is_stored_with_its_patch(
    registered: Guard, kubectl_anew: Kubectl, keep: Callable[[Object], Object], name: str
) -> None:
    (example,) = (path for path in EXAMPLES if path.stem == name)
    objects = [keep(obj) for obj in yaml.safe_load_all(example.read_text())]
    registered.serve(World("1.6", tuple(objects)))
    assert kubectl_anew("apply", "--filename", str(example)).code == 0
    stored = {obj["kind"]: kubectl_anew.stored(obj) for obj in objects}
    assert all(stored.values())
    if release := stored.get("HelmRelease"):
        assert release["spec"]["values"]["kernelModuleConfig"]["create"] is True


def test_one_finding_of_reason_invalid(kubectl: Kubectl, golden: Golden, package: Make) -> None:
    shown = kubectl.apply(package(variant="contaner"))
    assert shown.code == 1
    golden("e2e/invalid-one.txt", shown.text)


def test_several_findings_of_reason_invalid(kubectl: Kubectl, golden: Golden, kubevirt: Make) -> None:
    shown = kubectl.apply(kubevirt("LiveMigration", "HostDevices", cards=[("10DE:1EB8", "T4"), ("10de:1eb8", "TU104")]))
    assert shown.code == 1
    golden("e2e/invalid-several.txt", shown.text)


def test_one_finding_of_reason_forbidden(kubectl: Kubectl, golden: Golden, config_map: Make) -> None:
    shown = kubectl.apply(config_map(colour="black", shade="dark"))
    assert shown.code == 1
    golden("e2e/forbidden-one.txt", shown.text)


def test_several_findings_of_reason_forbidden(kubectl: Kubectl, golden: Golden, config_map: Make) -> None:
    shown = kubectl.apply(config_map(colour="black", shade="black"))
    assert shown.code == 1
    golden("e2e/forbidden-several.txt", shown.text)


def test_a_warning_is_shown_and_the_object_stored(kubectl: Kubectl, golden: Golden, package: Make) -> None:
    values = {"gpu-operator": {"driver": {"enabled": True}, "toolkit": {"enabled": True}}}
    obj = package(variant="container", components={"gpu-operator": {"values": values}})
    golden("e2e/warnings.txt", kubectl.apply(obj).text)
    assert kubectl.stored(obj)


def test_a_patch_is_told_and_stands_in_the_stored_object(kubectl: Kubectl, golden: Golden, config_map: Make) -> None:
    obj = config_map(colour="blue")
    golden("e2e/patch.txt", kubectl.apply(obj).text)
    stored = kubectl.stored(obj)
    assert stored
    assert stored["data"] == {"colour": "blue", "shade": "bright"}


def test_a_denied_deletion_keeps_the_object(kubectl: Kubectl, golden: Golden, config_map: Make) -> None:
    obj = config_map()
    obj["metadata"]["labels"] = {"keep": "true"}
    kubectl.make(obj)
    shown = kubectl("delete", "configmap", "settings", "--namespace=e2e")
    assert shown.code == 1
    golden("e2e/delete.txt", shown.text)
    assert kubectl.stored(obj)


def test_an_object_is_called_by_the_name_that_the_api_server_has_made_for_it(kubectl: Kubectl, golden: Golden) -> None:
    metadata = {"generateName": "settings-", "namespace": "e2e"}
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"colour": "black", "shade": "x"}}
    shown = kubectl("create", "--filename=-", stdin=obj)
    assert shown.code == 1
    golden("e2e/generate-name.txt", re.sub(r"settings-\w{5}\b", "settings-?????", shown.text))
