from __future__ import annotations

import time
from typing import Any

import pytest

from webhook.errors import UsageError
from webhook.model.release import Minor
from webhook.sources import catalog

GPU_VARIANTS = {
    "1.0": (["default"], None),
    "1.1": (["default"], None),
    "1.2": (["default"], None),
    "1.3": (["default"], None),
    "1.4": (["default", "vgpu"], None),
    "1.5": (["default", "vgpu", "container"], ["default", "vgpu"]),
    "1.6": (["default", "vgpu", "container"], ["default", "vgpu"]),
    "1.7": (["default", "vgpu", "container"], ["default", "vgpu", "container"]),
}
"""What the Package route and the bundle route accept, per release."""


def facts(release: str) -> dict[str, Any]:
    return catalog.load(Minor.parse(release)).facts


def test_the_catalogue_holds_every_minor_release_from_1_0_to_1_7() -> None:
    assert [str(minor) for minor in catalog.releases()] == list(GPU_VARIANTS)


@pytest.mark.parametrize("release", GPU_VARIANTS)
def test_both_routes_accept_what_the_release_accepts(release: str) -> None:
    gpu = facts(release)["gpu"]
    assert (gpu["packageVariants"], gpu["bundleVariants"]) == GPU_VARIANTS[release]
    assert gpu["bundleKey"] == (gpu["bundleVariants"] is not None)


@pytest.mark.parametrize("release", GPU_VARIANTS)
def test_an_entry_has_the_documented_shape(release: str) -> None:
    entry = facts(release)
    assert entry["version"] == release
    assert isinstance(entry["source"], str)
    assert entry["packages"]["cozystack.cozystack-platform"]["variants"]["isp-full"] == ["platform"]
    assert set(entry["packages"]["cozystack.gpu-operator"]["variants"]) == set(entry["gpu"]["packageVariants"])
    for package in entry["packages"].values():
        assert package["variants"]
        for components in package["variants"].values():
            assert all(isinstance(component, str) for component in components)


def test_every_entry_states_the_same_facts() -> None:
    keys = {tuple(sorted(facts(release)["gpu"])) for release in GPU_VARIANTS}
    assert len(keys) == 1


def test_facts_change_with_the_release_that_brought_them() -> None:
    since = {
        fact: next(release for release in GPU_VARIANTS if facts(release)["gpu"][fact])
        for fact in ("hamiAvailable", "kubevirtOwnsGpuKeys", "nvLinkDisableDefault", "tenantNodesLabelled")
    }
    assert since == {
        "hamiAvailable": "1.4",
        "kubevirtOwnsGpuKeys": "1.5",
        "nvLinkDisableDefault": "1.5",
        "tenantNodesLabelled": "1.5",
    }
    assert [facts(release)["gpu"]["tenantNodes"] for release in ("1.5", "1.6")] == ["kubeadm", "talos"]
    assert facts("1.6")["gpu"]["defaultSelectors"]["10DE:1EB8"] == "nvidia.com/TU104GL_TESLA_T4"
    assert facts("1.4")["gpu"]["defaultSelectors"] == {}


def test_1_7_says_what_it_was_not_read_from_a_tag() -> None:
    release = catalog.load(Minor(1, 7))
    assert release.documented_only
    assert release.facts["documentedOnly"] == ["gpu.bundleVariants"]
    assert "documentation" in release.facts["source"]


def test_the_newest_is_the_newest_that_was_read_from_a_tag() -> None:
    assert catalog.newest().version == Minor(1, 6)


def test_a_release_with_an_entry_stands_for_itself() -> None:
    release, warning = catalog.nearest(Minor(1, 7))
    assert (release.version, warning) == (Minor(1, 7), None)


def test_a_newer_release_than_known_is_treated_as_the_newest_known_and_says_so() -> None:
    release, warning = catalog.nearest(Minor(2, 0))
    assert release.version == Minor(1, 7)
    assert warning == "release 2.0 is newer than the catalogue: treated as 1.7, the newest it knows"


def test_a_release_before_the_catalogue_is_refused() -> None:
    with pytest.raises(UsageError, match=r"got release `0\.9`, want one of the catalogue's, 1\.0 to 1\.7"):
        catalog.nearest(Minor(0, 9))


def package_source(name: str, variants: Any) -> dict[str, Any]:
    return {"kind": "PackageSource", "metadata": {"name": name}, "spec": {"variants": variants}}


def test_a_package_source_replaces_all_that_the_entry_says_of_its_package() -> None:
    release = catalog.load(Minor(1, 6))
    live = catalog.overlay(
        release,
        [
            package_source("cozystack.kubevirt", [{"name": "tiny", "components": [{"name": "kubevirt"}, {}]}, {}]),
            package_source("my.own", [{"name": "default"}]),
        ],
    )
    packages = live.facts["packages"]
    assert packages["cozystack.kubevirt"] == {"variants": {"tiny": ["kubevirt"]}}
    assert packages["my.own"] == {"variants": {"default": []}}
    assert packages["cozystack.linstor"] == release.facts["packages"]["cozystack.linstor"]
    assert "tiny" not in release.facts["packages"]["cozystack.kubevirt"]["variants"]


def test_the_package_route_of_gpu_operator_follows_its_package_source() -> None:
    source = package_source("cozystack.gpu-operator", [{"name": "default"}, {"name": "mig"}])
    live = catalog.overlay(catalog.load(Minor(1, 6)), [source])
    assert live.facts["gpu"]["packageVariants"] == ["default", "mig"]
    assert live.facts["gpu"]["bundleVariants"] == ["default", "vgpu"]


def test_an_upgrade_brings_cozystacks_own_packages_and_keeps_the_others() -> None:
    now = catalog.overlay(
        catalog.load(Minor(1, 4)),
        [package_source("cozystack.gpu-operator", [{"name": "default"}]), package_source("my.own", [{"name": "a"}])],
    )
    after, warning = catalog.upgraded(now, Minor(1, 6))

    shipped = catalog.load(Minor(1, 6)).facts
    assert (after.version, warning) == (Minor(1, 6), None)
    assert after.facts["gpu"] == shipped["gpu"]
    assert after.facts["packages"] == shipped["packages"] | {"my.own": {"variants": {"a": []}}}


def test_a_package_that_an_upgrade_takes_away_is_gone() -> None:
    after, _ = catalog.upgraded(catalog.load(Minor(1, 6)), Minor(1, 3))
    assert "cozystack.hami" not in after.facts["packages"]


def test_an_upgrade_to_a_newer_release_than_known_says_so() -> None:
    after, warning = catalog.upgraded(catalog.load(Minor(1, 6)), Minor(3, 0))
    assert after.version == Minor(1, 7)
    assert warning


@pytest.mark.parametrize("source", [{}, {"metadata": []}, package_source("cozystack.kubevirt", None), {"spec": 1}])
def test_a_malformed_package_source_changes_nothing(source: dict[str, Any]) -> None:
    release = catalog.load(Minor(1, 6))
    assert catalog.overlay(release, [source]) is release


def test_reading_an_entry_takes_no_time_to_speak_of() -> None:
    catalog.releases()

    def read() -> float:
        catalog.load.cache_clear()
        began = time.perf_counter()
        catalog.load(Minor(1, 6))
        return time.perf_counter() - began

    assert min(read() for _ in range(5)) < 0.01
