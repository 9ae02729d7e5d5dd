"""What a denial tells people to do works as printed."""

from __future__ import annotations

from collections.abc import Callable

from tests.e2e.kubectl import Kubectl, Object
from tests.e2e.pasting import edited, pasted

Make = Callable[..., Object]


def test_the_yaml_of_a_fix_mends_the_file(kubectl: Kubectl, package: Make) -> None:
    obj = package(variant="contaner")
    assert kubectl.apply(edited(obj, kubectl.apply(obj).denial)).code == 0
    stored = kubectl.stored(obj)
    assert stored
    assert stored["spec"] == {"variant": "container"}


def test_the_command_of_a_fix_mends_what_was_to_be_changed(kubectl: Kubectl, package: Make) -> None:
    kubectl.apply(package(variant="container"))
    obj = package(variant="contaner", ignoreDependencies=["cozystack.cert-manager"])
    (command,) = pasted(kubectl.apply(obj).text)
    shown = kubectl.shell(command)
    assert shown.text == "package.cozystack.io/cozystack.gpu-operator patched\n"
    stored = kubectl.stored(obj)
    assert stored
    assert stored["spec"] == {"variant": "container", "ignoreDependencies": ["cozystack.cert-manager"]}


def test_one_command_mends_all_findings_of_an_update(kubectl: Kubectl, kubevirt: Make) -> None:
    kubectl.apply(kubevirt("LiveMigration"))
    obj = kubevirt("LiveMigration", "HostDevices", "GPU", "HostDevices")
    (mend,) = pasted(kubectl.apply(obj).text)
    words, command = mend.splitlines()
    assert words == "this mends all 2 findings at once:"
    assert kubectl.shell(command).text.splitlines()[-1] == "kubevirt.kubevirt.io/kubevirt patched"
    stored = kubectl.stored(obj)
    assert stored
    assert stored["spec"]["configuration"]["developerConfiguration"]["featureGates"] == ["LiveMigration", "GPU"]


def test_the_command_of_a_fix_names_the_namespace(kubectl: Kubectl, deployment: Make) -> None:
    kubectl.apply(deployment(replicas=2))
    (command,) = pasted(kubectl.apply(deployment(replicas=1)).text)
    assert command == "leave the object as it is: that is the mended form\n"
    changed = deployment(replicas=1)
    changed["metadata"]["labels"] = {"team": "gpu"}
    (command,) = pasted(kubectl.apply(changed).text)
    assert kubectl.shell(command).text == "deployment.apps/web patched\n"
    stored = kubectl.stored(changed)
    assert stored
    assert (stored["spec"]["replicas"], stored["metadata"]["labels"]) == (2, {"team": "gpu"})


def test_the_acknowledgement_that_a_fix_offers_is_taken(kubectl: Kubectl, kubevirt: Make) -> None:
    obj = kubevirt("HostDevices")
    shown = kubectl.apply(obj)
    assert "annotate the object with cozyguard.io/acknowledge: kubevirt-no-host-devices-on-container\n" in shown.text
    obj["metadata"]["annotations"] = {"cozyguard.io/acknowledge": "kubevirt-no-host-devices-on-container"}
    assert "kubevirt-no-host-devices-on-container" not in kubectl.apply(obj).text
