"""Does the API server trust the certificate that a webhook shows, and for how long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, Final

from webhook.model.diagnosis import Diagnosis, Level
from webhook.model.path import Path
from webhook.runs.doctor import x509
from webhook.runs.doctor.inventory import Held, Inventory, Registered
from webhook.runs.doctor.workload import Workload, behind
from webhook.runs.doctor.x509 import Certificate

_BUNDLE: Final = ("clientConfig", "caBundle")
_INJECTED: Final = "cert-manager.io/inject-"
_KEPT: Final = "--tls-secret"
_FAILS: Final = "every call fails, and failurePolicy decides"
_NOT_NOW: Final = f"outside its time it is not trusted: {_FAILS}"
CERTIFICATE: Final = "tls.crt"
"""The key of a Secret that holds a certificate and its chain."""


def certificates(registered: Registered, inventory: Inventory, now: datetime) -> Iterator[Diagnosis]:
    """Look at what the API server trusts, then at the certificate in the Secret that the pods have."""
    roots: list[Certificate] = []
    try:
        if bundle := registered.webhook.ca_bundle:
            roots = x509.certificates_of(x509.decoded(bundle))
        elif registered.webhook.service:  # by URL the API server trusts what its machine trusts
            yield from _no_bundle(registered, inventory)
    except ValueError as error:
        yield from _unusable(registered, str(error))
    if roots:
        yield from _roots(registered, roots, now)
    yield from _leaves(registered, roots, inventory, now)


def _no_bundle(registered: Registered, inventory: Inventory) -> Iterator[Diagnosis]:
    if not _is_injected(registered):
        yield registered.find(
            Level.ERROR if inventory.live else Level.REMARK,
            "ca-bundle",
            _BUNDLE,
            "has no caBundle",
            f"no public authority signs for a Service: unless somebody writes it, {_FAILS}",
            f"write the base64 of the CA certificates, or let cert-manager do it by annotation `{_INJECTED}ca-from`",
        )


def _unusable(registered: Registered, words: str) -> Iterator[Diagnosis]:
    if not _is_injected(registered):
        yield registered.find(
            Level.ERROR,
            "ca-bundle",
            _BUNDLE,
            f"has a caBundle that {words}",
            _FAILS,
            "write the base64 of the CA certificates as PEM",
        )


def _is_injected(registered: Registered) -> bool:
    return any(name.startswith(_INJECTED) for name in registered.held.get("metadata", "annotations"))


def _roots(registered: Registered, roots: Sequence[Certificate], now: datetime) -> Iterator[Diagnosis]:
    """Judge the authority that lasts longest: those that a rotation leaves behind may go."""
    last = max(roots, key=lambda each: each.not_valid_after_utc)
    fix = "renew the CA, and write the new one beside the old one before the webhook shows what it signs"
    words = x509.validity(last, now)
    if words:
        level = Level.ERROR if not x509.is_valid(last, now) else Level.WARNING
        yield registered.find(level, "ca-expiry", _BUNDLE, f"trusts a CA that {words}", _NOT_NOW, fix)


def _leaves(
    registered: Registered, roots: Sequence[Certificate], inventory: Inventory, now: datetime
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
        if roots and not x509.is_trusted(leaf, roots, rest):
            yield registered.find(
                Level.ERROR,
                "ca-mismatch",
                _BUNDLE,
                f"trusts no CA that signed the certificate in Secret `{secret.resource.name}`",
                f"x509: certificate signed by unknown authority: {_FAILS}",
                f"write the CA of Secret `{secret.resource.name}` (its `ca.crt`) into the caBundle",
            )


def _leaf(secret: Held, leaf: Certificate, host: str, now: datetime) -> Iterator[Diagnosis]:
    names = x509.names(leaf)
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
    if words := x509.validity(leaf, now):
        level = Level.ERROR if not x509.is_valid(leaf, now) else Level.WARNING
        yield secret.find(
            level,
            "certificate-expiry",
            _at(secret),
            f"holds a certificate that {words}",
            _NOT_NOW,
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


def _secret_certificates(secret: Held) -> list[Certificate]:
    """Read a Secret's certificates and nothing else of it. Raises ValueError with what is wrong."""
    data, text = secret.get("data").get(CERTIFICATE), secret.get("stringData").get(CERTIFICATE)
    return x509.certificates_of(text.encode() if isinstance(text, str) else x509.decoded(str(data)))


def _at(secret: Held) -> Path:
    return ("stringData" if CERTIFICATE in secret.get("stringData") else "data", CERTIFICATE)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
