"""What the server writes about reviews, and what it never writes."""

import json
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def free_ports() -> tuple[int, int]:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        return one.getsockname()[1], other.getsockname()[1]


ConfigMap = Callable[..., dict[str, Any]]
Policy = Callable[..., str]


def line_of(server: Any, uid: str, until: Any) -> dict[str, Any]:
    [line] = until(lambda: [line for line in server.logged("review") if line["uid"] == uid])
    found: dict[str, Any] = line
    return found


def test_a_review_is_one_line(server: Any, config_map: ConfigMap, until: Any) -> None:
    server.review(config_map(uid="log-1"))
    line = line_of(server, "log-1", until)
    assert line.pop("ms") >= 0
    assert line.pop("time").endswith("Z")
    assert line == {
        "level": "warning",
        "msg": "review",
        "uid": "log-1",
        "endpoint": "validate",
        "operation": "CREATE",
        "kind": "ConfigMap",
        "namespace": "ml",
        "name": "settings",
        "user": "dev-1",
        "allowed": False,
        "verdicts": [{"policy": "app-label", "rule": "0", "outcome": "deny"}],
    }


def test_a_patch_is_logged_by_the_name_of_its_policy(server: Any, config_map: ConfigMap, until: Any) -> None:
    server.review(config_map(uid="log-2", labels={"app": "a"}), "/mutate")
    assert line_of(server, "log-2", until)["patched"] == ["colour"]


def test_a_name_that_is_not_known_yet_is_logged_as_a_pattern(server: Any, config_map: ConfigMap, until: Any) -> None:
    request = config_map(uid="log-3", name="")
    request["object"]["metadata"] = {"generateName": "infer-"}
    server.review(request)
    assert line_of(server, "log-3", until)["name"] == "infer-*"


def test_the_longest_of_names_makes_a_short_line(server: Any, config_map: ConfigMap, until: Any) -> None:
    server.review(config_map(uid="log-4", name="n" * 100_000))
    assert line_of(server, "log-4", until)["name"] == "n" * 256


def test_values_of_objects_stay_out_of_the_log(
    serve: Any, policies: Path, policy: Policy, config_map: ConfigMap
) -> None:
    telling = {"messageExpression": "'the password is ' + object.data.password"}
    (policies / "label.yaml").write_text(policy("object.data.password != 'hunter2'", **telling))
    (policies / "broken.yaml").write_text(
        policy("int(object.data.password) < 5").replace("app-label", "evaluation-error")
    )
    server = serve()
    server.review(config_map())
    server.post(b'{"password": "hunter2"')
    server.post({"kind": "hunter2"})
    server.stop()
    text = server.log_file.read_text()
    assert "evaluation-error" in text
    assert "hunter2" not in text


def test_a_quiet_server_logs_refusals_alone(serve: Any, config_map: ConfigMap) -> None:
    server = serve("--log-level", "warning", ports=free_ports())
    server.review(config_map(uid="allowed", labels={"app": "a"}))
    server.review(config_map(uid="denied"))
    server.stop()
    assert [line["uid"] for line in server.logged("review")] == ["denied"]


def test_what_a_client_breaks_is_no_error_of_ours(serve: Callable[..., Any], until: Any) -> None:
    server = serve()
    with server.connect() as connection:
        connection.sock.sendall(b"POST /validate HTTP/1.1\r\nX: " + b"x" * 10_000 + b"\r\n\r\n")
        connection.sock.recv(1000)
    with server.connect() as connection:
        connection.sock.sendall(b"POST /validate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n")
        connection.sock.sendall(b"Content-Length: 100\r\n\r\n{")
    until(lambda: len([one for one in server.logs() if one.get("logger")]) > 1)
    lines = [one for one in server.logs() if one.get("logger")]
    assert {line["level"] for line in lines} == {"warning"}
    assert not any("%" in line["msg"] for line in lines)


def test_reviews_are_recorded_for_replay_without_the_values_of_secrets(
    serve: Any, config_map: ConfigMap, tmp_path: Path
) -> None:
    file = tmp_path / "reviews.jsonl"
    server = serve("--record", str(file), "--record-percent", "100")
    server.review(config_map(uid="rec-1"))
    server.review(config_map(uid="rec-2", labels={"app": "a"}))
    server.review(config_map(uid="rec-3"), "/mutate")
    assert server.stop() == 0

    told = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(one["request"]["uid"], one["response"]["allowed"]) for one in told] == [("rec-1", False), ("rec-2", True)]
    assert "hunter2" not in file.read_text()
    again = subprocess.run(
        [sys.executable, "-m", "webhook", "replay", file, "--policies", server.policies, "-o", "json"],
        capture_output=True,
        check=False,
    )
    (result,) = json.loads(again.stdout)["results"]
    assert (result["outcome"], result["policy"], result["request"]["allowed"]) == ("deny", "app-label", False)
