"""Policies, configuration and cluster state that change while the server runs."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ConfigMap = Callable[..., dict[str, Any]]
Policy = Callable[..., str]

CONFIGURATION = {"apiVersion": "cozyguard.io/v1alpha1", "kind": "Configuration"}
PACKAGE = {
    "apiVersion": "cozystack.io/v1alpha1",
    "kind": "Package",
    "metadata": {"name": "cozystack.gpu-operator"},
    "spec": {"variant": "default"},
}
LOOKUP = {"name": "gpu", "apiVersion": PACKAGE["apiVersion"], "kind": "Package", "objectName": "cozystack.gpu-operator"}


@pytest.fixture(scope="module")
def server(launch: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One server for all tests here: each of them writes what it needs, and waits for it to hold."""
    folder = tmp_path_factory.mktemp("state")
    config, state = folder / "config.yaml", folder / "state.yaml"
    config.write_text(json.dumps(CONFIGURATION))
    state.write_text(json.dumps(PACKAGE))
    with launch("--config", str(config), "--cluster-state", str(state)) as started:
        started.config, started.state, started.policy = config, state, started.policies / "label.yaml"
        yield started


@pytest.fixture
def allowed(server: Any, config_map: ConfigMap) -> Callable[[], bool]:
    return lambda: server.review(config_map())["allowed"]


def denied(allowed: Callable[[], bool]) -> Callable[[], bool]:
    return lambda: not allowed()


def generation(server: Any) -> int:
    number: int = server.readiness()["workers"][0]["policies"]["generation"]
    return number


def test_a_changed_policy_holds_without_a_restart(server: Any, policy: Policy, allowed: Any, until: Any) -> None:
    server.policy.write_text(policy("false"))
    until(denied(allowed))
    before = generation(server), server.metric('cozyguard_reloads_total{result="success",what="state"}')
    server.policy.write_text(policy("true"))
    until(allowed)
    after = generation(server), server.metric('cozyguard_reloads_total{result="success",what="state"}')
    assert after == (before[0] + 1, before[1] + 1)


def test_a_policy_that_is_added_holds_too(server: Any, policy: Policy, allowed: Any, until: Any) -> None:
    server.policy.write_text(policy("true"))
    until(allowed)
    added: Path = server.policies / "added.yaml"
    added.write_text(policy("false").replace("app-label", "added"))
    until(denied(allowed))
    added.unlink()
    until(allowed)


def test_a_broken_policy_leaves_the_last_good_set_in_force_and_is_told(
    server: Any, policy: Policy, allowed: Any, until: Any
) -> None:
    server.policy.write_text(policy("1 == 2"))
    until(denied(allowed))
    failed = 'cozyguard_reloads_total{result="error",what="state"}'
    before = server.metric(failed)
    server.policy.write_text(policy("object.metadata. =="))
    until(lambda: server.metric(failed) > before)
    assert not allowed()
    detail = server.readiness()
    assert detail["ready"] is True
    assert "label.yaml" in detail["workers"][0]["policies"]["lastError"]
    assert any("label.yaml" in line["error"] for line in server.logs() if line["level"] == "error")
    server.policy.write_text(policy("true"))
    until(allowed)
    assert server.readiness()["workers"][0]["policies"]["lastError"] is None


def test_what_lookups_see_follows_the_cluster_state_file(server: Any, policy: Policy, allowed: Any, until: Any) -> None:
    document = json.loads(policy("lookups.gpu.spec.variant != 'container'"))
    document["spec"]["lookups"] = [LOOKUP]
    server.policy.write_text(json.dumps(document))
    server.state.write_text(json.dumps(PACKAGE | {"spec": {"variant": "container"}}))
    until(denied(allowed))
    server.state.write_text(json.dumps(PACKAGE))
    until(allowed)


def test_the_configuration_is_read_again(server: Any, policy: Policy, allowed: Any, until: Any) -> None:
    server.policy.write_text(policy("2 == 3"))
    until(denied(allowed))
    server.config.write_text(json.dumps(CONFIGURATION | {"exempt": {"users": ["dev-1"]}}))
    until(allowed)
    server.config.write_text(json.dumps(CONFIGURATION))
    until(denied(allowed))
