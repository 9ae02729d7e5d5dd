"""The kinds of request that an API server sends, and those that it must not be stopped from."""

from __future__ import annotations

from collections.abc import Callable

from tests.e2e.kubectl import Kubectl, Object

Make = Callable[..., Object]


def test_a_server_side_dry_run_is_reviewed_and_stores_nothing(kubectl: Kubectl, config_map: Make) -> None:
    obj = config_map(colour="blue")
    shown = kubectl.apply(obj, "--dry-run=server", "--output=jsonpath={.data.shade}")
    assert shown.text.splitlines()[-1] == "bright"
    assert shown.warnings == ["[colours] the shade is bright where nobody names one"]
    assert kubectl.stored(obj) is None
    assert kubectl.apply(config_map(colour="black"), "--dry-run=server").code == 1


def test_server_side_apply_is_reviewed(kubectl: Kubectl, package: Make) -> None:
    bad = kubectl.apply(package(variant="contaner"), "--server-side")
    assert bad.code == 1
    assert "did you mean `container`?" in bad.text
    assert kubectl.apply(package(variant="container"), "--server-side").text == (
        "package.cozystack.io/cozystack.gpu-operator serverside-applied\n"
    )


def test_a_patched_field_is_no_conflict_for_server_side_apply(kubectl: Kubectl, config_map: Make) -> None:
    obj = config_map(colour="blue")
    assert kubectl.apply(obj, "--server-side").code == 0
    again = kubectl.apply(obj, "--server-side")
    assert (again.code, again.warnings) == (0, [])
    other = kubectl.apply(config_map(colour="red"), "--server-side", "--field-manager=other")
    assert other.code == 1
    assert 'conflict with "kubectl": .data.colour' in other.text


def test_a_patched_field_belongs_to_nobody_and_others_can_apply_it(kubectl: Kubectl, config_map: Make) -> None:
    kubectl.apply(config_map(colour="blue"), "--server-side")
    dark = config_map(shade="dark")
    assert kubectl.apply(dark, "--server-side", "--field-manager=other").code == 0
    stored = kubectl.stored(dark)
    assert stored
    assert stored["data"] == {"colour": "blue", "shade": "dark"}


def test_applying_again_what_was_patched_changes_nothing(kubectl: Kubectl, config_map: Make) -> None:
    obj = config_map(colour="blue")
    kubectl.apply(obj)
    assert kubectl.apply(obj).text == "configmap/settings unchanged\n"


def test_an_update_that_leaves_a_violation_as_it_was_warns(kubectl: Kubectl, package: Make) -> None:
    kubectl.make(package(variant="contaner"))
    shown = kubectl("label", "package", "cozystack.gpu-operator", "team=gpu")
    assert shown.code == 0
    (warning,) = shown.warnings
    assert warning.startswith("[package-variant-known] spec.variant: variant `contaner` does not exist")


def test_an_update_that_breaks_another_rule_is_denied(kubectl: Kubectl, kubevirt: Make) -> None:
    kubectl.make(kubevirt("HostDevices"))
    shown = kubectl.apply(kubevirt("HostDevices", cards=[("10DE:1EB8", "TU104GL_TESLA_T4")]))
    assert shown.code == 1
    assert "an NVIDIA card is offered to VMs" in shown.text
    assert "feature gate HostDevices" not in shown.text.partition("is invalid")[2]


def test_an_object_that_breaks_a_rule_can_be_deleted(kubectl: Kubectl, package: Make) -> None:
    obj = package(variant="contaner")
    kubectl.make(obj)
    shown = kubectl("delete", "package", "cozystack.gpu-operator")
    assert (shown.code, shown.warnings) == (0, [])
    assert kubectl.stored(obj) is None


def test_the_last_finalizer_of_a_deleted_object_that_breaks_a_rule_can_be_removed(
    kubectl: Kubectl, package: Make
) -> None:
    obj = package(variant="contaner")
    obj["metadata"]["finalizers"] = ["cozystack.io/cleanup"]
    kubectl.make(obj)
    kubectl("delete", "package", "cozystack.gpu-operator", "--wait=false")
    shown = kubectl(
        "patch", "package", "cozystack.gpu-operator", "--type=merge", '--patch={"metadata":{"finalizers":[]}}'
    )
    assert (shown.code, shown.warnings) == (0, [])
    assert kubectl.stored(obj) is None


def test_a_name_that_the_server_makes_is_no_hindrance(kubectl: Kubectl, keep: Callable[[Object], Object]) -> None:
    metadata = {"generateName": "settings-", "namespace": "e2e"}
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"colour": "blue"}}
    shown = kubectl("create", "--filename=-", "--output=name", stdin=obj)
    name = shown.text.splitlines()[-1].removeprefix("configmap/")
    stored = kubectl.stored(keep(obj | {"metadata": {"name": name, "namespace": "e2e"}}))
    assert stored
    assert stored["data"]["shade"] == "bright"


def test_the_status_of_an_object_that_breaks_a_rule_can_be_written(kubectl: Kubectl, package: Make) -> None:
    obj = package(variant="contaner")
    kubectl.make(obj)
    change = '--patch={"status":{"seen":true}}'
    shown = kubectl("patch", "package", "cozystack.gpu-operator", "--subresource=status", "--type=merge", change)
    assert (shown.code, shown.warnings) == (0, [])
    stored = kubectl.stored(obj)
    assert stored
    assert stored["status"] == {"seen": True}


def test_a_scale_is_none_of_the_objects_that_a_rule_is_about(kubectl: Kubectl, deployment: Make) -> None:
    kubectl.apply(deployment(replicas=2))
    shown = kubectl("scale", "deployment", "web", "--namespace=e2e", "--replicas=1")
    assert shown.text == "deployment.apps/web scaled\n"


def test_who_asks_is_known_to_the_rules(kubectl: Kubectl, kubevirt: Make) -> None:
    kubectl.make(kubevirt("LiveMigration"))
    flux = kubectl.acting("system:serviceaccount:cozy-fluxcd:flux", "system:masters")
    assert flux.apply(kubevirt("LiveMigration", "CPUManager")).text.splitlines()[-1].endswith("configured")
    assert not any("[kubevirt-hand-edit]" in warning for warning in flux.apply(kubevirt("GPU")).warnings)
    assert any("[kubevirt-hand-edit]" in warning for warning in kubectl.apply(kubevirt("LiveMigration")).warnings)
