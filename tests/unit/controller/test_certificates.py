from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.verification import PolicyBuilder, Store

from webhook.controller.certificates import (
    LIFE,
    Fault,
    Pair,
    authorities,
    ends,
    fingerprint,
    is_old,
    issue,
    judge,
    signers,
    together,
)

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
HOSTS = ("cozyguard", "cozyguard.guard", "cozyguard.guard.svc", "cozyguard.guard.svc.cluster.local")


def test_a_client_that_trusts_the_ca_verifies_the_leaf_under_each_of_its_names() -> None:
    pair, authority = issue((*HOSTS, "127.0.0.1", "::1"), NOW)
    leaf = x509.load_pem_x509_certificate(pair.certificate)
    builder = PolicyBuilder().store(Store(authorities(authority))).time(NOW)
    for host in HOSTS[2:]:
        builder.build_server_verifier(x509.DNSName(host)).verify(leaf, [])
    names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == list(HOSTS)
    assert [str(one) for one in names.get_values_for_type(x509.IPAddress)] == ["127.0.0.1", "::1"]
    assert judge(pair, authority, HOSTS, NOW) is None


def test_the_ca_signs_leaves_alone_and_the_leaf_signs_nothing() -> None:
    pair, authority = issue(HOSTS, NOW)
    ca, leaf = x509.load_pem_x509_certificate(authority), x509.load_pem_x509_certificate(pair.certificate)
    assert ca.extensions.get_extension_for_class(x509.BasicConstraints).value.path_length == 0
    assert not leaf.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    assert isinstance(leaf.public_key(), ec.EllipticCurvePublicKey)
    assert b"PRIVATE" not in authority


def test_it_is_valid_an_hour_before_it_is_made_and_ninety_days_after() -> None:
    pair, _ = issue(HOSTS, NOW)
    leaf = x509.load_pem_x509_certificate(pair.certificate)
    assert leaf.not_valid_before_utc == NOW - timedelta(hours=1)
    assert ends(pair.certificate) == NOW + timedelta(days=90)


def test_it_is_old_when_a_third_of_its_life_is_left() -> None:
    pair, _ = issue(HOSTS, NOW)
    assert not is_old(pair.certificate, NOW + timedelta(days=59))
    assert is_old(pair.certificate, NOW + timedelta(days=60))


def test_what_is_wrong_with_a_pair_is_told() -> None:
    pair, authority = issue(HOSTS, NOW)
    other, other_authority = issue(HOSTS, NOW)
    assert judge(Pair(b"", b""), authority, HOSTS, NOW) is Fault.MISSING
    assert judge(Pair(b"junk", pair.key), authority, HOSTS, NOW) is Fault.UNREADABLE
    assert judge(Pair(pair.certificate, b""), authority, HOSTS, NOW) is Fault.UNREADABLE
    assert judge(Pair(pair.certificate, other.key), authority, HOSTS, NOW) is Fault.MISMATCH
    assert judge(pair, authority, HOSTS, NOW - timedelta(hours=2)) is Fault.NOT_YET
    assert judge(pair, authority, HOSTS, NOW + LIFE) is Fault.EXPIRED
    assert judge(pair, authority, ("elsewhere", *HOSTS), NOW) is Fault.NAMES
    assert judge(pair, other_authority, HOSTS, NOW) is Fault.UNTRUSTED
    assert judge(pair, b"", HOSTS, NOW) is Fault.UNTRUSTED


def test_a_key_with_a_password_cannot_be_read() -> None:
    pair, authority = issue(HOSTS, NOW)
    key = serialization.load_pem_private_key(pair.key, None)
    locked = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"secret"),
    )
    assert judge(Pair(pair.certificate, locked), authority, HOSTS, NOW) is Fault.UNREADABLE


def test_a_bundle_has_each_ca_once_and_none_that_has_expired() -> None:
    _, first = issue(HOSTS, NOW)
    _, second = issue(HOSTS, NOW + timedelta(days=60))
    assert together((first, b"junk", first + second), NOW) == first + second
    assert together((first + second,), NOW + LIFE) == second


def test_of_several_cas_the_one_that_signed_is_found() -> None:
    pair, first = issue(HOSTS, NOW)
    _, second = issue(HOSTS, NOW)
    assert signers(pair.certificate, second + first) == first


def test_what_is_no_certificate_has_no_fingerprint() -> None:
    assert fingerprint(b"junk") == ""


def test_neither_a_key_nor_a_certificate_shows_where_a_pair_is_printed() -> None:
    pair, _ = issue(HOSTS, NOW)
    assert "PRIVATE" not in repr(pair)


@pytest.mark.parametrize("broken", [b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", b"", b"\xff"])
def test_what_is_no_certificate_is_passed_over(broken: bytes) -> None:
    assert authorities(broken) == []
