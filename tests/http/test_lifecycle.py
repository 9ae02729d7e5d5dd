"""Starting and ending."""

import json
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ConfigMap = Callable[..., dict[str, Any]]
Policy = Callable[..., str]


def review_of(request: dict[str, Any]) -> bytes:
    return json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}).encode()


def refuses_connections(server: Any) -> bool:
    try:
        socket.create_connection(("127.0.0.1", server.port)).close()
    except OSError:
        return True
    return False


def test_a_request_under_way_is_finished_before_the_end(serve: Any, config_map: ConfigMap, until: Any) -> None:
    server = serve()
    body = review_of(config_map(labels={"app": "web"}))
    with server.connect() as connection:
        connection.putrequest("POST", "/validate?timeout=10s")
        connection.putheader("Content-Type", "application/json")
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body[:100])
        until(lambda: server.metric("cozyguard_requests_in_flight"))
        server.process.send_signal(signal.SIGTERM)
        until(lambda: refuses_connections(server))
        connection.send(body[100:])
        answer = connection.getresponse()
        assert (answer.status, answer.headers["Connection"]) == (200, "close")
        assert json.load(answer)["response"]["allowed"] is True
    assert server.process.wait(10) == 0


def test_an_idle_connection_does_not_hold_up_the_end(serve: Any, config_map: ConfigMap) -> None:
    server = serve()
    with server.connect() as connection:
        server.review(config_map(), over=connection)
        started = time.monotonic()
        assert server.stop() == 0
    assert time.monotonic() - started < 5


def test_while_draining_it_answers_but_is_not_ready(serve: Any, config_map: ConfigMap, until: Any) -> None:
    server = serve("--drain-seconds", "30")
    server.process.send_signal(signal.SIGTERM)
    until(lambda: server.probe("/readyz")[0] == 503)
    assert server.probe("/healthz")[0] == 200
    answer = server.post(json.loads(review_of(config_map())))
    assert (answer.status, answer.headers["Connection"]) == (200, "close")
    assert server.stop() == 0, "the second signal ends the drain"


def test_an_interrupt_from_a_terminal_ends_it_at_once(serve: Any) -> None:
    assert serve("--drain-seconds", "30").stop(signal.SIGINT) == 0


def test_policies_that_do_not_compile_are_told_and_nothing_is_served(
    serve: Any, policies: Path, policy: Policy
) -> None:
    (policies / "label.yaml").write_text(policy("object.metadata. =="))
    (policies / "other.yaml").write_text("kind: AdmissionPolicy")
    server = serve(wait=False)
    assert server.process.wait(10) == 2
    told = server.log_file.read_text()
    assert "label.yaml" in told
    assert "other.yaml" in told


def test_a_port_that_is_taken_is_named(server: Any, serve: Any) -> None:
    second = serve("--port", str(server.port), wait=False)
    assert second.process.wait(10) == 2
    assert f"cannot listen on `127.0.0.1:{server.port}`: address already in use" in second.log_file.read_text()


def test_a_certificate_that_is_none_is_told(serve: Any, certificates: Any) -> None:
    certificates.cert.write_text("")
    server = serve(wait=False)
    assert server.process.wait(10) == 2
    assert "certificate `" in server.log_file.read_text()
