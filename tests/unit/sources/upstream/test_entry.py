from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from webhook.model.release import Minor
from webhook.sources.checkout import Checkout
from webhook.sources.upstream.entry import Entry, build

Cozystack = Callable[..., str]
Build = Callable[..., Entry]

PLATFORM = "packages/core/platform"
BUNDLE = f"{PLATFORM}/templates/bundles/iaas.yaml"
CLUSTER = "packages/apps/kubernetes/templates/cluster.yaml"


@pytest.fixture
def entry(cozystack: Cozystack) -> Build:
    """Build the entry of the small tree, with these files changed."""

    def of(changed: Mapping[str, str | None] | None = None) -> Entry:
        return build(Checkout(cozystack(changed), "v1.9.3"), Minor(1, 9))

    return of


def test_a_tree_gives_a_whole_entry(entry: Build) -> None:
    found = entry()

    assert found.not_read == {}
    assert found.facts == {
        "version": "1.9",
        "source": "v1.9.3",
        "documentedOnly": [],
        "gpu": {
            "packageVariants": ["default", "vgpu", "container"],
            "operatorValues": ["gpu-operator", "kernelModuleConfig"],
            "bundleKey": True,
            "bundleVariants": ["default", "vgpu"],
            "bundleChecksSystem": False,
            "kubevirtOwnsGpuKeys": True,
            "nvLinkDisableDefault": True,
            "hamiAvailable": True,
            "tenantNodes": "talos",
            "tenantNodesLabelled": True,
            "tenantNodePools": True,
            "defaultSelectors": {"10DE:0001": "nvidia.com/ONE"},
            "defaultMediatedDevices": {"NVIDIA ONE-8Q": "nvidia.com/ONE-8Q"},
        },
        "packages": {
            "cozystack.cozystack-platform": {"variants": {"default": ["platform"], "small": ["platform"]}},
            "cozystack.gpu-operator": {
                "variants": {
                    "default": ["gpu-operator"],
                    "container": ["gpu-operator", "toolkit"],
                    "vgpu": ["gpu-operator"],
                }
            },
            "cozystack.hami": {"variants": {"default": []}},
        },
    }


def test_packages_are_sorted_and_their_default_variant_comes_first(entry: Build) -> None:
    packages = entry().facts["packages"]

    assert list(packages) == sorted(packages)
    assert list(packages["cozystack.gpu-operator"]["variants"]) == ["default", "container", "vgpu"]


@pytest.mark.parametrize(
    ("path", "text", "fact", "value"),
    [
        (BUNDLE, "{{- /* .Values.bundles.iaas.gpuOperatorVariant */ -}}\n", "bundleKey", False),
        (BUNDLE, "nothing\n", "bundleVariants", None),
        (BUNDLE, "nothing\n", "defaultSelectors", {}),
        (
            BUNDLE,
            '{{ $v := .Values.bundles.iaas.gpuOperatorVariant }}\n{{ if not (has $v (list "a" "b")) }}\n{{ fail "no" }}',
            "bundleVariants",
            ["a", "b"],
        ),
        (
            BUNDLE,
            '{{- if and .Values.bundles.iaas.enabled (not .Values.bundles.system.enabled) }}\n{{- fail "no" }}\n',
            "bundleChecksSystem",
            True,
        ),
        ("packages/system/kubevirt/values.yaml", "", "kubevirtOwnsGpuKeys", False),
        ("packages/system/gpu-operator/values.yaml", "kernelModuleConfig: {}", "nvLinkDisableDefault", False),
        ("packages/apps/kubernetes/templates/helmreleases/gpu-operator.yaml", "a: b", "nvLinkDisableDefault", False),
        (f"{PLATFORM}/sources/hami.yaml", None, "hamiAvailable", False),
        (CLUSTER, "    kind: KubeadmConfigTemplate\n", "tenantNodes", "kubeadm"),
        (CLUSTER, "    kind: KubeadmConfigTemplate\n", "tenantNodesLabelled", False),
        (CLUSTER, 'kind: KubeadmConfigTemplate\nnode-labels: "a=b,gpu=on"', "tenantNodesLabelled", True),
        ("packages/apps/kubernetes-nodes/Chart.yaml", None, "tenantNodePools", False),
    ],
)
def test_each_fact_is_read_off_its_place(entry: Build, path: str, text: str | None, fact: str, value: object) -> None:
    found = entry({path: text})

    assert found.not_read == {}
    assert found.facts["gpu"][fact] == value


@pytest.mark.parametrize(
    ("path", "text", "fact", "reason"),
    [
        (BUNDLE, None, "gpu.bundleKey", f"{BUNDLE}: there is no such file"),
        (
            BUNDLE,
            "{{ $v := .Values.bundles.iaas.gpuOperatorVariant }}",
            "gpu.bundleVariants",
            f"{BUNDLE}: reads the key, but not what it takes: no `fail` behind a list of values",
        ),
        (
            f"{PLATFORM}/files/gpu-vgpu-defaults.yaml",
            None,
            "gpu.defaultMediatedDevices",
            f"{PLATFORM}/files/gpu-vgpu-defaults.yaml: there is no such file",
        ),
        (
            f"{PLATFORM}/files/gpu-passthrough-defaults.yaml",
            "pciHostDevices: [{resourceName: a}]",
            "gpu.defaultSelectors",
            f"{PLATFORM}/files: an entry of pciHostDevices has no pciVendorSelector, or no resourceName",
        ),
        (
            "packages/system/kubevirt/values.yaml",
            "- a",
            "gpu.kubevirtOwnsGpuKeys",
            "packages/system/kubevirt/values.yaml: want one document that is a map",
        ),
        (
            "packages/system/gpu-operator/values.yaml",
            "a: b",
            "gpu.nvLinkDisableDefault",
            "packages/system/gpu-operator/values.yaml: no `kernelModuleConfig`, which the tenant's chart turns on",
        ),
        (CLUSTER, "a: b", "gpu.tenantNodes", f"{CLUSTER}: got none, want one kind of bootstrap template"),
        (
            f"{PLATFORM}/sources/gpu-operator.yaml",
            None,
            "gpu.packageVariants",
            "there is no package cozystack.gpu-operator",
        ),
        (
            f"{PLATFORM}/sources/hami.yaml",
            "kind: PackageSource\napiVersion: cozystack.io/v1alpha1\nmetadata: {name: cozystack.hami}\nspec: {}\n",
            'packages["cozystack.hami"]',
            f"{PLATFORM}/sources/hami.yaml: the PackageSource has no variants",
        ),
        (
            f"{PLATFORM}/sources/hami.yaml",
            "a: [",
            f'packages["{PLATFORM}/sources/hami.yaml"]',
            f"{PLATFORM}/sources/hami.yaml:2:1: got no value, want one, in quotes if it begins with a special character",
        ),
        (
            "cmd/cozystack-operator/main.go",
            "package main",
            'packages["cozystack.cozystack-platform"]',
            "cmd/cozystack-operator/main.go: the platform's PackageSource is not made there in the way that is known here",
        ),
    ],
)
def test_what_cannot_be_read_is_said_and_left_out(
    entry: Build, path: str, text: str | None, fact: str, reason: str
) -> None:
    found = entry({path: text})

    assert found.not_read[fact] == reason
    assert fact in found.facts["notRead"]
    assert fact.removeprefix("gpu.") not in found.facts["gpu"]


def test_a_tree_of_something_else_gives_no_fact_at_all(entry: Build) -> None:
    nothing = dict.fromkeys(
        (
            f"{PLATFORM}/sources/hami.yaml",
            f"{PLATFORM}/sources/gpu-operator.yaml",
            BUNDLE,
            CLUSTER,
            "packages/apps/kubernetes/templates/helmreleases/gpu-operator.yaml",
            "packages/apps/kubernetes-nodes/Chart.yaml",
            "packages/system/kubevirt/values.yaml",
            "packages/system/gpu-operator/values.yaml",
            "cmd/cozystack-operator/main.go",
        )
    )
    found = entry(nothing)

    assert (found.facts["gpu"], found.facts["packages"]) == ({}, {})
    assert len(found.not_read) == 14
