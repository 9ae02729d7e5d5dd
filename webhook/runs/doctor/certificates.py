"""Does the API server trust the certificate that a webhook shows, and for how long."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, Final

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.x509.oid import ExtensionOID

from webhook.model.diagnosis import Diagnosis, Level
from webhook.model.path import Path
from webhook.runs.doctor.inventory import Held, Inventory, Registered
from webhook.runs.doctor.workload import Workload, behind

SOON: Final = timedelta(days=14)
"""Whoever renews certificates does it before."""

_BUNDLE: Final = ("clientConfig", "caBundle")
_INJECTED: Final = "cert-manager.io/inject-"
_KEPT: Final = "--tls-secret"
_FAILS: Final = "every call fails, and failurePolicy decides"
CERTIFICATE: Final = "tls.crt"
"""The key of a Secret that holds a certificate and its chain."""


def certificates(registered: Registered, inventory: Inventory, now: datetime) -> Iterator[Diagnosis]:
    """Look at what the API server trusts, then at the certificate in the Secret that the pods have."""
    if not registered.webhook.ca_bundle:
        yield from _no_bundle(registered, inventory)
        roots: Sequence[x509.Certificate] = ()
    else:
        try:
            roots = _bundle(registered.webhook.ca_bundle)
        except ValueError as error:
            if not _is_injected(registered):
                yield registered.find(
                    Level.ERROR,
                    "ca-bundle",
                    _BUNDLE,
                    f"has a caBundle that {error}",
                    _FAILS,
                    "write the base64 of the CA certificates as PEM",
                )
            roots = ()
        else:
            yield from _roots(registered, roots, now)
    yield from _leaves(registered, roots, inventory, now)


def _no_bundle(registered: Registered, inventory: Inventory) -> Iterator[Diagnosis]:
    if _is_injected(registered) or registered.webhook.service is None:
        return  # by URL the API server trusts what its machine trusts
    yield registered.find(
        Level.ERROR if inventory.live else Level.REMARK,
        "ca-bundle",
        _BUNDLE,
        "has no caBundle",
        f"no public authority signs for a Service: unless somebody writes it, {_FAILS}",
        f"write the base64 of the CA certificates, or let cert-manager do it by the annotation `{_INJECTED}ca-from`",
    )


def _is_injected(registered: Registered) -> bool:
    return any(name.startswith(_INJECTED) for name in registered.held.get("metadata", "annotations"))


def _bundle(text: str) -> list[x509.Certificate]:
    """Read a caBundle. Raises ValueError with what is wrong, in words that never hold any of it."""
    try:
        pem = base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("is no base64") from None
    if b"PRIVATE KEY" in pem:
        raise ValueError("holds a private key, which everybody can read there: make a new one")
    return _pem(pem)


def bundle_of(text: str) -> str:
    """Give the PEM of a caBundle, "" for what is none."""
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode("ascii")
    except ValueError:
        return ""


def _pem(pem: bytes) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(pem)
    except ValueError:
        raise ValueError("holds no certificate as PEM") from None


def _roots(registered: Registered, roots: Sequence[x509.Certificate], now: datetime) -> Iterator[Diagnosis]:
    """Judge the authority that lasts longest: those that a rotation leaves behind may go."""
    last = max(roots, key=lambda each: each.not_valid_after_utc)
    fix = "renew the CA, and write the new one beside the old one before the webhook shows what it signs"
    words = _validity(last, now)
    if words:
        level = Level.ERROR if not _is_valid(last, now) else Level.WARNING
        yield registered.find(level, "ca-expiry", _BUNDLE, f"trusts a CA that {words}", f"from then on {_FAILS}", fix)


def _leaves(
    registered: Registered, roots: Sequence[x509.Certificate], inventory: Inventory, now: datetime
) -> Iterator[Diagnosis]:
    service = registered.webhook.service
    if service is None:
        return
    for secret in _secrets(behind(service, inventory), service.namespace, inventory):
        try:
            leaf, *rest = _secret_certificates(secret)
        except ValueError as error:
            yield secret.find(
                Level.ERROR, "certificate", _at(secret), f"{CERTIFICATE} {error}", _FAILS, "let it be issued anew"
            )
            continue
        yield from _leaf(secret, leaf, service.host, now)
        if roots and not _is_signed(leaf, roots, rest):
            yield registered.find(
                Level.ERROR,
                "ca-mismatch",
                _BUNDLE,
                f"trusts no CA that signed the certificate in Secret `{secret.resource.name}`",
                f"x509: certificate signed by unknown authority: {_FAILS}",
                f"write the CA of Secret `{secret.resource.name}` (its `ca.crt`) into the caBundle",
            )


def _leaf(secret: Held, leaf: x509.Certificate, host: str, now: datetime) -> Iterator[Diagnosis]:
    names = _names(leaf)
    if host not in names:
        shown = ", ".join(f"`{name}`" for name in names) or "no DNS name"
        yield secret.find(
            Level.ERROR,
            "certificate-names",
            _at(secret),
            f"holds a certificate for {shown}, want `{host}`",
            f"the API server checks this very name: {_FAILS}",
            f"let it be issued with the DNS name `{host}`",
        )
    if words := _validity(leaf, now):
        level = Level.ERROR if not _is_valid(leaf, now) else Level.WARNING
        yield secret.find(
            level,
            "certificate-expiry",
            _at(secret),
            f"holds a certificate that {words}",
            f"from then on {_FAILS}",
            "see why whoever renews it (cert-manager, the tool itself) has not done so",
        )


def _secrets(workloads: Sequence[Workload], namespace: str, inventory: Inventory) -> list[Held]:
    """Give the Secrets at hand that have a certificate and that the pods mount, or name by `--tls-secret`."""
    found = [inventory.get("Secret", namespace, name) for one in workloads for name in secret_names(one)]
    return [
        each for each in found if each and (CERTIFICATE in each.get("data") or CERTIFICATE in each.get("stringData"))
    ]


def secret_names(workload: Workload) -> list[str]:
    """Name the Secrets that pods mount, or keep by themselves."""
    volumes = workload.held.list("spec", "template", "spec", "volumes")
    mounted = [one.get("secretName") for each in volumes if isinstance(one := each.get("secret"), dict)]
    return list(dict.fromkeys(name for name in (*mounted, *kept_secrets(workload)) if isinstance(name, str)))


def kept_secrets(workload: Workload) -> list[str]:
    """Name the Secrets that our own pods read and write by themselves: `--tls-secret` says which."""
    found: list[str] = []
    for container in workload.containers:
        words = [str(each) for key in ("command", "args") for each in _list(container.get(key))]
        found += (word.partition("=")[2] for word in words if word.startswith(f"{_KEPT}="))
        found += (after for word, after in pairwise(words) if word == _KEPT)
    return found


def _secret_certificates(secret: Held) -> list[x509.Certificate]:
    """Read a Secret's certificates and nothing else of it. Raises ValueError with what is wrong."""
    data, text = secret.get("data").get(CERTIFICATE), secret.get("stringData").get(CERTIFICATE)
    if isinstance(text, str):
        return _pem(text.encode())
    try:
        return _pem(base64.b64decode(str(data), validate=True))
    except binascii.Error:
        raise ValueError("is no base64") from None


def _at(secret: Held) -> Path:
    return ("stringData" if CERTIFICATE in secret.get("stringData") else "data", CERTIFICATE)


def _names(leaf: x509.Certificate) -> list[str]:
    try:
        names = leaf.extensions.get_extension_for_oid(ExtensionOID.SUBJECT_ALTERNATIVE_NAME).value
    except (x509.ExtensionNotFound, ValueError):
        return []
    return names.get_values_for_type(x509.DNSName) if isinstance(names, x509.SubjectAlternativeName) else []


def _is_valid(one: x509.Certificate, now: datetime) -> bool:
    return one.not_valid_before_utc <= now < one.not_valid_after_utc


def _validity(one: x509.Certificate, now: datetime) -> str:
    """Say what is wrong with the time of a certificate, "" if nothing is."""
    if now < one.not_valid_before_utc:
        return f"is not valid before {one.not_valid_before_utc:%Y-%m-%d %H:%M} UTC"
    left = one.not_valid_after_utc - now
    if left < SOON:
        return f"{'expires' if left > timedelta() else 'expired'} on {one.not_valid_after_utc:%Y-%m-%d %H:%M} UTC"
    return ""


def _is_signed(one: x509.Certificate, roots: Sequence[x509.Certificate], between: Sequence[x509.Certificate]) -> bool:
    """Is there a way from a certificate to one that is trusted; one that is trusted itself needs none."""
    if one in roots or any(_issued(one, root) for root in roots):
        return True
    rest = [each for each in between if each != one]
    return any(_issued(one, each) and _is_signed(each, roots, rest) for each in rest)


def _issued(one: x509.Certificate, by: x509.Certificate) -> bool:
    try:
        one.verify_directly_issued_by(by)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
