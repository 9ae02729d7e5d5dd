"""Certificates of our own: a CA that signs one leaf, and is then without its key; and what may be wrong with a pair."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from ipaddress import ip_address
from typing import Final

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LIFE: Final = timedelta(days=90)
BACKDATED: Final = timedelta(hours=1)
"""For clocks that are behind."""

_PEM: Final = serialization.Encoding.PEM


@dataclass(frozen=True, slots=True, repr=False)
class Pair:
    """A leaf's certificate and its key, PEM."""

    certificate: bytes
    key: bytes


class Fault(StrEnum):
    """What keeps a pair from being served."""

    MISSING = "there is none"
    UNREADABLE = "the certificate or its key cannot be read"
    MISMATCH = "the key does not fit the certificate"
    NOT_YET = "the certificate is not valid yet"
    EXPIRED = "the certificate has expired"
    NAMES = "the certificate lacks names that we are reached by"
    UNTRUSTED = "no certificate authority beside it has signed it"
    FOREIGN = "somebody else has put it there"


def issue(hosts: Iterable[str], now: datetime) -> tuple[Pair, bytes]:
    """Make a pair for these DNS names and IP addresses, and the CA's certificate that verifies it, PEM.

    Each CA has a name and a key of its own, so that two of them can stand in one bundle.
    """
    authority, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"cozyguard {x509.random_serial_number():x}"[:64])])
    ca = _builder(issuer, issuer, authority.public_key(), now)
    ca = ca.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    ca = ca.add_extension(_usage(ca=True), critical=True)
    ca = ca.add_extension(x509.SubjectKeyIdentifier.from_public_key(authority.public_key()), critical=False)
    names = tuple(hosts)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0][:64])])
    leaf = _builder(subject, issuer, key.public_key(), now)
    leaf = leaf.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    leaf = leaf.add_extension(_usage(ca=False), critical=True)
    leaf = leaf.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    leaf = leaf.add_extension(x509.SubjectAlternativeName(map(_general_name, names)), critical=False)
    leaf = leaf.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key())
    leaf = leaf.add_extension(signer, critical=False)
    private = key.private_bytes(_PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    pair = Pair(leaf.sign(authority, hashes.SHA256()).public_bytes(_PEM), private)
    return pair, ca.sign(authority, hashes.SHA256()).public_bytes(_PEM)


def judge(pair: Pair, trusted: bytes, hosts: Iterable[str], now: datetime) -> Fault | None:
    """Say what is wrong with a pair, if anything: `trusted` are the CAs in PEM, `hosts` the names it needs."""
    if not pair.certificate and not pair.key:
        return Fault.MISSING
    try:
        leaf = x509.load_pem_x509_certificate(pair.certificate)
        key = serialization.load_pem_private_key(pair.key, password=None)
    except (ValueError, TypeError):  # TypeError: a key with a password
        return Fault.UNREADABLE
    if key.public_key() != leaf.public_key():
        return Fault.MISMATCH
    if now < leaf.not_valid_before_utc:
        return Fault.NOT_YET
    if now >= leaf.not_valid_after_utc:
        return Fault.EXPIRED
    if not set(map(_general_name, hosts)) <= set(_names(leaf)):
        return Fault.NAMES
    return None if signers(pair.certificate, trusted) else Fault.UNTRUSTED


def signers(certificate: bytes, trusted: bytes) -> bytes:
    """Pick the CAs that verify a leaf, PEM."""
    leaf = x509.load_pem_x509_certificate(certificate)
    return b"".join(one.public_bytes(_PEM) for one in authorities(trusted) if _signed(leaf, one))


def authorities(bundle: bytes) -> list[x509.Certificate]:
    """Read the certificates of a bundle; what is none is passed over, as in the API server."""
    found = []
    for part in bundle.split(b"-----BEGIN CERTIFICATE-----")[1:]:
        with suppress(ValueError):
            found.append(x509.load_pem_x509_certificate(b"-----BEGIN CERTIFICATE-----" + part))
    return found


def together(bundles: Iterable[bytes], now: datetime) -> bytes:
    """Put bundles together: each certificate once, in order, without those that have expired."""
    found = dict.fromkeys(one for bundle in bundles for one in authorities(bundle) if now < one.not_valid_after_utc)
    return b"".join(one.public_bytes(_PEM) for one in found)


def fingerprint(certificate: bytes) -> str:
    """Name a leaf by the SHA-256 of its DER; "" for what is none."""
    try:
        return x509.load_pem_x509_certificate(certificate).fingerprint(hashes.SHA256()).hex()
    except ValueError:
        return ""


def ends(certificate: bytes) -> datetime:
    """Tell when a certificate expires. Raises ValueError for what is none."""
    return x509.load_pem_x509_certificate(certificate).not_valid_after_utc


def is_old(certificate: bytes, now: datetime) -> bool:
    """Is no more than a third of its life left."""
    leaf = x509.load_pem_x509_certificate(certificate)
    return leaf.not_valid_after_utc - now <= (leaf.not_valid_after_utc - leaf.not_valid_before_utc) / 3


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - BACKDATED)
        .not_valid_after(now + LIFE)
    )


def _usage(*, ca: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not ca,
        key_cert_sign=ca,
        crl_sign=ca,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _names(leaf: x509.Certificate) -> Iterable[x509.GeneralName]:
    try:
        return leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return ()


def _signed(leaf: x509.Certificate, authority: x509.Certificate) -> bool:
    try:
        leaf.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True
