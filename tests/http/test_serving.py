"""Requests and answers, over TLS."""

import json
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from http.client import HTTPResponse
from typing import Any

import pytest

ConfigMap = Callable[..., dict[str, Any]]

LIMIT = 7 * 1024 * 1024


def test_an_object_that_keeps_the_rules_is_allowed_with_the_shortest_answer(server: Any, config_map: ConfigMap) -> None:
    assert server.review(config_map(labels={"app": "web"})) == {"uid": "0a6c7f10", "allowed": True}


def test_an_object_that_breaks_a_rule_is_refused_in_words(server: Any, config_map: ConfigMap) -> None:
    response = server.review(config_map())
    assert response["allowed"] is False
    assert response["status"]["code"] == 422
    assert "label app is missing [app-label]" in response["status"]["message"]


def test_a_dry_run_gets_the_same_answer(server: Any, config_map: ConfigMap) -> None:
    assert server.review(config_map(dryRun=True)) == server.review(config_map())


def test_a_delete_that_no_policy_names_goes_through(server: Any, config_map: ConfigMap) -> None:
    request = config_map(operation="DELETE", object=None)
    assert server.review(request)["allowed"] is True


def test_mutate_changes_and_does_not_judge(server: Any, config_map: ConfigMap) -> None:
    response = server.review(config_map(labels={"tier": "web"}), "/mutate?timeout=10s")
    assert response["allowed"] is True
    assert response["patchType"] == "JSONPatch"
    assert any("painted blue" in warning for warning in response["warnings"])


def test_validate_judges_and_does_not_change(server: Any, config_map: ConfigMap) -> None:
    assert "patch" not in server.review(config_map(labels={"app": "web"}), "/validate")


def test_a_rule_that_cannot_be_evaluated_in_time_says_so_under_the_uid(server: Any, config_map: ConfigMap) -> None:
    request = config_map(labels={"app": "web"}, uid="late")
    request["object"]["data"]["slow"] = list(range(0, 4000, 2))
    response = server.review(request, "/validate?timeout=10ms")
    assert response["allowed"] is False
    assert "deadline" in response["status"]["message"]


def test_several_reviews_go_over_one_connection(server: Any, config_map: ConfigMap) -> None:
    with server.connect() as connection:
        sock = connection.sock
        for number in range(3):
            server.review(config_map(uid=f"uid-{number}"), over=connection)
        assert connection.sock is sock


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "the body is not JSON"),
        (b"{", "the body is not JSON"),
        (b"[1, 2]", "want kind `AdmissionReview`"),
        (b"\xff\xfe", "the body is not JSON"),
        (b"[" * 100_000, "the body is not JSON"),
        (b'{"apiVersion": "admission.k8s.io/v1beta1", "kind": "AdmissionReview"}', "want `admission.k8s.io/v1`"),
        (b'{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}', "request: missing"),
    ],
)
def test_a_review_that_cannot_be_read_is_a_bad_request(server: Any, body: bytes, message: str) -> None:
    answer = server.post(body)
    assert (answer.status, answer.json["kind"], answer.json["reason"]) == (400, "Status", "BadRequest")
    assert message in answer.json["message"]


def test_a_timeout_that_is_no_duration_is_a_bad_request(server: Any) -> None:
    answer = server.post({}, "/validate?timeout=soon")
    assert (answer.status, answer.json["message"][:8]) == (400, "timeout:")


def test_another_path_is_not_found(server: Any) -> None:
    answer = server.post({}, "/")
    assert answer.status == 404
    assert "/validate or /mutate" in answer.json["message"]


def test_another_method_is_not_allowed(server: Any) -> None:
    answer = server.post(None, method="GET")
    assert (answer.status, answer.headers["Allow"]) == (405, "POST")


def test_another_content_type_is_not_supported(server: Any) -> None:
    assert server.post({}, headers={"Content-Type": "text/plain"}).status == 415


def test_a_charset_beside_the_content_type_does_no_harm(server: Any, config_map: ConfigMap) -> None:
    headers = {"Content-Type": "application/json; charset=utf-8"}
    assert server.review(config_map(labels={"app": "a"}), headers=headers)["allowed"] is True


def test_a_review_of_two_large_objects_is_read(server: Any, config_map: ConfigMap) -> None:
    large = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "labels": {"app": "a"}}}
    large |= {"data": {"blob": "é" * 500_000}}
    request = config_map(operation="UPDATE", object=large, oldObject=large)
    assert len(json.dumps(request)) > 6_000_000
    assert server.review(request)["allowed"] is True


def test_a_body_that_says_it_is_too_large_is_refused_unread(server: Any) -> None:
    with server.connect() as connection:
        connection.putrequest("POST", "/validate")
        connection.putheader("Content-Type", "application/json")
        connection.putheader("Content-Length", str(20 * 1024 * 1024))
        connection.endheaders()
        response = connection.getresponse()
        assert response.status == 413
        assert f"got at least {20 * 1024 * 1024} bytes, want at most {LIMIT}" in json.load(response)["message"]


def test_a_body_in_chunks_is_refused_once_it_is_too_large(server: Any) -> None:
    before = server.peak_memory()
    chunks = (b" " * 1024 * 1024 for _ in range(64))
    with server.connect() as connection:
        connection.request("POST", "/validate", chunks, {"Content-Type": "application/json"}, encode_chunked=True)
        assert connection.getresponse().status == 413
    assert server.peak_memory() < before + 32 * 1024
    assert any(line["status"] == 413 and "bytes" in line["reason"] for line in server.logged("request refused"))


def test_a_body_that_never_ends_is_given_up_at_the_deadline(server: Any) -> None:
    with server.connect() as connection:
        connection.putrequest("POST", "/validate?timeout=200ms")
        connection.putheader("Content-Type", "application/json")
        connection.putheader("Content-Length", "100")
        connection.endheaders(b"{")
        assert connection.getresponse().status == 408


def _in_two_pieces(server: Any, request: dict[str, Any]) -> HTTPResponse:
    """Send a review whose body comes a moment after its headers."""
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    body = json.dumps(review).encode()
    with server.connect() as connection:
        connection.putrequest("POST", "/validate?timeout=10s")
        connection.putheader("Content-Type", "application/json")
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders()
        time.sleep(0.1)
        connection.send(body)
        answer: HTTPResponse = connection.getresponse()
        answer.read()
        return answer


def test_many_large_bodies_at_once_neither_fill_the_memory_nor_hold_up_small_ones(
    serve: Callable[..., Any], config_map: ConfigMap, until: Any
) -> None:
    server = serve()
    before = server.peak_memory()
    with ExitStack() as stack:
        for _ in range(24):
            connection = stack.enter_context(server.connect())
            connection.putrequest("POST", "/validate?timeout=30s")
            connection.putheader("Content-Type", "application/json")
            connection.putheader("Content-Length", str(LIMIT))
            with suppress(OSError):  # those that find no room are hung up on
                connection.endheaders(b" " * (LIMIT - 1))
        assert server.review(config_map(labels={"app": "a"}))["allowed"] is True
        assert _in_two_pieces(server, config_map(labels={"app": "a"})).status == 200
        assert any(line["status"] == 503 for line in server.logged("request refused"))
    assert server.peak_memory() < before + 160 * 1024
    large = config_map(labels={"app": "a"}) | {"options": {"blob": "x" * 1_000_000}}
    until(
        lambda: (
            server.post({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": large}).status
            == 200
        )
    )


def test_a_client_that_waits_for_a_go_ahead_gets_it(server: Any) -> None:
    context = server.certificates.context()
    with (
        socket.create_connection(("127.0.0.1", server.port), 5) as raw,
        context.wrap_socket(raw, server_hostname="localhost") as tls,
    ):
        tls.sendall(
            b"POST /validate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 2\r\nExpect: 100-continue\r\n\r\n"
        )
        assert tls.recv(100).startswith(b"HTTP/1.1 100 Continue")
        tls.sendall(b"{}")
        assert tls.recv(1000).startswith(b"HTTP/1.1 400")


def test_what_is_no_http_gets_no_traceback(server: Any) -> None:
    context = server.certificates.context()
    with (
        socket.create_connection(("127.0.0.1", server.port), 5) as raw,
        context.wrap_socket(raw, server_hostname="localhost") as tls,
    ):
        tls.sendall(b"hello\r\n\r\n")
        answer = tls.recv(1000)
    assert answer.startswith(b"HTTP/1.0 400")
    assert b"Traceback" not in answer


def test_plain_http_is_not_answered(server: Any) -> None:
    with socket.create_connection(("127.0.0.1", server.port), 5) as raw:
        raw.sendall(b"POST /validate HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert not raw.recv(100).startswith(b"HTTP")


def test_tls_1_1_is_not_spoken(server: Any) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("ALL:@SECLEVEL=0")
    with socket.create_connection(("127.0.0.1", server.port), 5) as raw, pytest.raises(ssl.SSLError):
        context.wrap_socket(raw)


def test_the_server_is_alive_and_ready(server: Any) -> None:
    assert server.probe("/healthz") == (200, "ok\n")
    detail = server.readiness()
    assert detail["ready"] is True
    [worker] = detail["workers"]
    assert worker["policies"]["loaded"] == 3
    assert worker["certificate"]["lastError"] is None


def test_reviews_are_counted(server: Any, config_map: ConfigMap) -> None:
    requests = 'cozyguard_requests_total{endpoint="validate",operation="CREATE",outcome="denied"}'
    findings = 'cozyguard_findings_total{outcome="deny",policy="app-label"}'
    before = server.metric(requests), server.metric(findings)
    server.review(config_map())
    assert (server.metric(requests), server.metric(findings)) == (before[0] + 1, before[1] + 1)
