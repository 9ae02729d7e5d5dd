"""Policies, configuration and cluster state that change while the server runs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

ConfigMap = Callable[..., dict[str, Any]]
Policy = Callable[..., str]

RELOADED = 'cozyguard_reloads_total{result="success",what="state"}'
FAILED = 'cozyguard_reloads_total{result="error",what="state"}'


def test_a_changed_policy_holds_without_a_restart(
    serve: Any, policies: Path, policy: Policy, config_map: ConfigMap, until: Any
) -> None:
    server = serve()
    assert server.review(config_map())["allowed"] is False
    (policies / "label.yaml").write_text(policy("true"))
    until(lambda: server.metric(RELOADED))
    assert server.review(config_map())["allowed"] is True
    assert server.readiness()["workers"][0]["policies"]["generation"] == 2


def test_a_broken_policy_leaves_the_last_good_set_in_force_and_is_told(
    serve: Any, policies: Path, policy: Policy, config_map: ConfigMap, until: Any
) -> None:
    server = serve()
    (policies / "label.yaml").write_text(policy("object.metadata. =="))
    until(lambda: server.metric(FAILED))
    assert server.review(config_map())["allowed"] is False
    detail = server.readiness()
    assert detail["ready"] is True
    assert "label.yaml" in detail["workers"][0]["policies"]["lastError"]
    [line] = [line for line in server.logs() if line["level"] == "error"]
    assert "label.yaml" in line["error"]
    (policies / "label.yaml").write_text(policy("true"))
    until(lambda: server.metric(RELOADED))
    assert server.readiness()["workers"][0]["policies"]["lastError"] is None


def test_what_lookups_see_follows_the_cluster_state_file(
    serve: Any, policies: Path, tmp_path: Path, config_map: ConfigMap, until: Any
) -> None:
    state = tmp_path / "state.yaml"
    gpu = {
        "apiVersion": "cozystack.io/v1alpha1",
        "kind": "Package",
        "metadata": {"name": "cozystack.gpu-operator"},
        "spec": {"variant": "container"},
    }
    state.write_text(json.dumps(gpu))
    document = json.loads((policies / "label.yaml").read_text())
    document["spec"]["lookups"] = [
        {"name": "gpu", "apiVersion": gpu["apiVersion"], "kind": "Package", "objectName": "cozystack.gpu-operator"}
    ]
    document["spec"]["validations"] = [{"expression": "lookups.gpu.spec.variant != 'container'"}]
    (policies / "label.yaml").write_text(json.dumps(document))
    server = serve("--cluster-state", str(state))
    assert server.review(config_map())["allowed"] is False
    state.write_text(json.dumps(gpu | {"spec": {"variant": "default"}}))
    until(lambda: server.metric(RELOADED))
    assert server.review(config_map())["allowed"] is True


def test_the_configuration_is_read_again(serve: Any, tmp_path: Path, config_map: ConfigMap, until: Any) -> None:
    config = tmp_path / "config.yaml"
    text = {"apiVersion": "cozyguard.io/v1alpha1", "kind": "Configuration"}
    config.write_text(json.dumps(text))
    server = serve("--config", str(config))
    assert server.review(config_map())["allowed"] is False
    config.write_text(json.dumps(text | {"exempt": {"users": ["dev-1"]}}))
    until(lambda: server.metric(RELOADED))
    assert server.review(config_map())["allowed"] is True
