"""What an API server serves, told from its own words."""

from __future__ import annotations

from webhook.cluster.discovery import Resources
from webhook.cluster.resources import DEPLOYMENTS, LEASES, PACKAGES, SECRETS, Resource

SERVED = Resources(
    [
        PACKAGES,
        Resource("kubevirt.io", "v1", "virtualmachines", "VirtualMachine", namespaced=True),
        Resource("kubevirt.io", "v1alpha3", "virtualmachines", "VirtualMachine", namespaced=True),
    ],
    ["metrics.k8s.io/v1beta1"],
)


def test_a_kind_is_found_in_the_version_that_is_asked_for() -> None:
    found = SERVED.find("kubevirt.io/v1alpha3", "VirtualMachine")
    assert found is not None
    assert found.version == "v1alpha3"


def test_a_kind_whose_version_is_not_served_is_found_in_the_preferred_one() -> None:
    found = SERVED.find("kubevirt.io/v1beta1", "VirtualMachine")
    assert found is not None
    assert found.version == "v1"


def test_a_kind_that_is_not_served_is_not_found() -> None:
    assert SERVED.find("v1", "VirtualMachine") is None


def test_all_tells_each_kind_once_in_the_preferred_version() -> None:
    assert [each.api_version for each in SERVED.all()] == ["cozystack.io/v1alpha1", "kubevirt.io/v1"]


def test_a_group_that_does_not_answer_is_broken_in_all_its_versions() -> None:
    assert SERVED.breaks("metrics.k8s.io/v1")
    assert not SERVED.breaks("kubevirt.io/v1")


def test_paths_are_those_of_the_api() -> None:
    assert SECRETS.path() == "/api/v1/secrets"
    assert SECRETS.path("ns", "a") == "/api/v1/namespaces/ns/secrets/a"
    assert PACKAGES.path("ns", "a") == "/apis/cozystack.io/v1alpha1/packages/a"
    assert LEASES.path("ns") == "/apis/coordination.k8s.io/v1/namespaces/ns/leases"
    assert DEPLOYMENTS.path("ns", "a/b?", "status") == "/apis/apps/v1/namespaces/ns/deployments/a%2Fb%3F/status"
