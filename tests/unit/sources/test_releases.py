"""The release that holds is the one named, else what the cluster says, else the newest known."""

from __future__ import annotations

from typing import Any

import pytest

from webhook.model.release import Minor
from webhook.sources import catalog, releases
from webhook.sources.objects import ObjectStore


def operator(image: str = "ghcr.io/cozystack/operator:v1.4.2@sha256:00ff", env: Any = ()) -> dict[str, Any]:
    container = {"name": "operator", "image": image, "env": list(env)}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "cozystack-operator", "namespace": "cozy-system"},
        "spec": {"template": {"spec": {"containers": [container]}}},
    }


def test_the_release_that_somebody_names_wins() -> None:
    release, warning = releases.in_force(Minor(1, 5), ObjectStore(state=[operator()]), [])
    assert (release.version, warning) == (Minor(1, 5), None)


def test_the_operator_s_image_says_the_release() -> None:
    assert releases.detect(ObjectStore(state=[operator()])) == Minor(1, 4)


@pytest.mark.parametrize("image", ["registry.example.org:5000/operator:v1.6.0-rc.1", "operator:1.6.3"])
def test_a_registry_s_port_and_a_pre_release_do_not_confuse_it(image: str) -> None:
    assert releases.detect(ObjectStore(state=[operator(image)])) == Minor(1, 6)


def test_the_variable_is_closer_to_the_truth_than_the_tag() -> None:
    env = [{"name": "OTHER"}, {"name": "COZYSTACK_VERSION", "value": "v1.7.0"}]
    assert releases.detect(ObjectStore(state=[operator(env=env)])) == Minor(1, 7)


@pytest.mark.parametrize(
    "broken",
    [
        operator("operator"),
        operator("operator:latest"),
        operator("operator@sha256:00ff"),
        {**operator(), "spec": None},
        {**operator(), "spec": {"template": {"spec": {"containers": [None, {"env": {"a": 1}}]}}}},
    ],
)
def test_an_operator_that_does_not_tell_leaves_the_newest_release(broken: dict[str, Any]) -> None:
    release, _ = releases.in_force(None, ObjectStore(state=[broken]), [])
    assert release.version == catalog.newest().version


def test_where_nobody_knows_the_operator_the_newest_release_holds() -> None:
    assert releases.in_force(None, ObjectStore(), [])[0] is catalog.newest()
