import ssl
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trustme

from webhook.errors import UsageError
from webhook.server import tls


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def write(folder: Path, leaf: trustme.LeafCert) -> tuple[Path, Path]:
    leaf.private_key_pem.write_to_path(folder / "tls.key")
    (folder / "tls.crt").write_bytes(b"".join(pem.bytes() for pem in leaf.cert_chain_pems))
    return folder / "tls.crt", folder / "tls.key"


def test_the_expiry_of_a_certificate_is_known(tmp_path: Path, authority: trustme.CA) -> None:
    expires = datetime(2035, 1, 2, tzinfo=UTC)
    cert, key = write(tmp_path, authority.issue_cert("localhost", not_after=expires))
    assert tls.load(cert, key).expires == expires


def test_nothing_older_than_tls_1_2_is_spoken(tmp_path: Path, authority: trustme.CA) -> None:
    context = tls.load(*write(tmp_path, authority.issue_cert("localhost"))).context
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2
    assert all("GCM" in cipher["name"] or "CHACHA20" in cipher["name"] for cipher in context.get_ciphers())


def test_a_key_of_another_certificate_is_refused(tmp_path: Path, authority: trustme.CA) -> None:
    cert, key = write(tmp_path, authority.issue_cert("localhost"))
    authority.issue_cert("localhost").private_key_pem.write_to_path(key)
    with pytest.raises(UsageError, match="key values mismatch"):
        tls.load(cert, key)


def test_a_file_that_is_no_certificate_is_refused(tmp_path: Path, authority: trustme.CA) -> None:
    cert, key = write(tmp_path, authority.issue_cert("localhost"))
    cert.write_text("half a cert")
    with pytest.raises(UsageError, match=r"tls\.crt"):
        tls.load(cert, key)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        tls.load(tmp_path / "tls.crt", tmp_path / "tls.key")


def test_an_encrypted_key_is_refused_and_never_asks_for_a_password(tmp_path: Path, authority: trustme.CA) -> None:
    from cryptography.hazmat.primitives import serialization as s

    leaf = authority.issue_cert("localhost")
    cert, key = write(tmp_path, leaf)
    private = s.load_pem_private_key(leaf.private_key_pem.bytes(), None)
    locked = s.BestAvailableEncryption(b"secret")
    key.write_bytes(private.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, locked))
    with pytest.raises(UsageError, match=r"tls\.key"):
        tls.load(cert, key)
