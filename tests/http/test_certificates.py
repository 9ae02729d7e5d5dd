"""Certificates that change while the server runs."""

import ssl
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from cryptography import x509

ConfigMap = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def server(launch: Any) -> Iterator[Any]:
    """One server for all tests here: each of them gives it a new certificate."""
    with launch() as started:
        yield started


def serial_shown(server: Any) -> int:
    """Shake hands, and return the serial number of the certificate that is shown."""
    with server.connect() as connection:
        der = connection.sock.getpeercert(binary_form=True)
    return x509.load_der_x509_certificate(der).serial_number


def test_a_new_certificate_is_shown_and_open_connections_stay_open(
    server: Any, config_map: ConfigMap, until: Any
) -> None:
    with server.connect() as connection:
        server.review(config_map(), over=connection)
        sock = connection.sock
        new = server.certificates.issue()
        until(lambda: serial_shown(server) == new)
        server.review(config_map(), over=connection)
        assert connection.sock is sock
    assert server.readiness()["workers"][0]["certificate"]["generation"] >= 2


def test_a_client_that_names_no_server_gets_the_new_certificate_too(server: Any, until: Any) -> None:
    new = server.certificates.issue()
    until(lambda: serial_shown(server) == new)
    pem = ssl.get_server_certificate(("127.0.0.1", server.port))
    assert x509.load_pem_x509_certificate(pem.encode()).serial_number == new


def test_a_broken_pair_leaves_the_old_one_in_force_and_is_told(server: Any, until: Any) -> None:
    good = server.certificates.cert.read_bytes()
    shown = x509.load_pem_x509_certificate(good).serial_number
    until(lambda: serial_shown(server) == shown)
    server.certificates.cert.write_bytes(good[:100])
    until(lambda: server.metric('cozyguard_reloads_total{result="error",what="certificate"}'))
    assert serial_shown(server) == shown
    detail = server.readiness()
    assert detail["ready"] is True
    assert "tls.crt" in detail["workers"][0]["certificate"]["lastError"]
    assert any(line["what"] == "certificate" for line in server.logs() if line["level"] == "error")


def test_the_expiry_is_a_metric(server: Any) -> None:
    assert server.metric("cozyguard_certificate_expiry_timestamp_seconds") > 1.7e9
