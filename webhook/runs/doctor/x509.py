"""What the doctor has to know of X.509: other tools' certificates, in whatever state they are."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.x509 import (
    Certificate,
    DNSName,
    ExtensionNotFound,
    SubjectAlternativeName,
    load_pem_x509_certificates,
)

__all__ = ["Certificate", "certificates_of", "decoded", "is_trusted", "is_valid", "names", "validity"]

SOON: Final = timedelta(days=14)
"""Whoever renews certificates does it before."""


def decoded(text: str) -> bytes:
    """Read base64. Raises ValueError with what is wrong, in words that never hold any of it; so do the others here."""
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except ValueError:
        raise ValueError("is no base64") from None


def certificates_of(pem: bytes) -> list[Certificate]:
    """Read one certificate or more. Raises ValueError."""
    if b"PRIVATE KEY" in pem:
        raise ValueError("holds a private key, which everybody can read there: make a new one")
    try:
        return load_pem_x509_certificates(pem)
    except ValueError:
        raise ValueError("holds no certificate as PEM") from None


def names(leaf: Certificate) -> list[str]:
    """Give the DNS names that a certificate is for."""
    try:
        found = leaf.extensions.get_extension_for_class(SubjectAlternativeName).value
    except (ExtensionNotFound, ValueError):
        return []
    return found.get_values_for_type(DNSName)


def is_valid(one: Certificate, now: datetime) -> bool:
    """Does it hold at this time."""
    return one.not_valid_before_utc <= now < one.not_valid_after_utc


def validity(one: Certificate, now: datetime) -> str:
    """Say what is wrong with the time of a certificate, or will soon be; "" if nothing is."""
    if now < one.not_valid_before_utc:
        return f"is not valid before {one.not_valid_before_utc:%Y-%m-%d %H:%M} UTC"
    left = one.not_valid_after_utc - now
    if left < SOON:
        return f"{'expires' if left > timedelta() else 'expired'} on {one.not_valid_after_utc:%Y-%m-%d %H:%M} UTC"
    return ""


def is_trusted(leaf: Certificate, roots: Sequence[Certificate], between: Sequence[Certificate]) -> bool:
    """Is there a way from a certificate to one that is trusted; one that is trusted itself needs none."""
    seen = [leaf]
    for one in seen:  # it grows
        if one in roots or any(_issued(one, root) for root in roots):
            return True
        seen += [each for each in between if each not in seen and _issued(one, each)]
    return False


def _issued(one: Certificate, by: Certificate) -> bool:
    try:
        one.verify_directly_issued_by(by)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True
