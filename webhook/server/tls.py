"""The server's certificate: read, judged, and changed under open connections."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes

from webhook.errors import UsageError

_CIPHERS: Final = "ECDHE+AESGCM:ECDHE+CHACHA20"
"""For TLS 1.2: forward secrecy and authenticated encryption alone. TLS 1.3 has nothing else."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate that fits its key, in a context that serves it."""

    context: ssl.SSLContext
    expires: datetime
    leaf: str
    """The certificate's SHA-256 fingerprint."""


def load(cert: Path, key: Path) -> Certificate:
    """Read a certificate (with its chain) and its key. Raises UsageError, also when they do not fit.

    Each pair gets a context of its own: a pair that breaks halfway through loading would leave a
    shared one without a certificate.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(_CIPHERS)
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols(["http/1.1"])
    try:
        # An empty password makes an encrypted key an error; with none OpenSSL asks the terminal.
        context.load_cert_chain(cert, key, password="")
        leaf = x509.load_pem_x509_certificate(cert.read_bytes())
    except (OSError, ValueError) as error:
        raise UsageError(f"certificate `{cert}` with key `{key}`: {_said(error)}") from None
    return Certificate(context, leaf.not_valid_after_utc, leaf.fingerprint(hashes.SHA256()).hex())


def serving(current: Callable[[], Certificate]) -> ssl.SSLContext:
    """Make the context to listen with: each handshake gets the certificate in force at that moment.

    OpenSSL calls back for every ClientHello, with or without a server name. Connections that are
    open keep what they shook hands with, and stay open.
    """
    first = current().context

    def choose(connection: ssl.SSLObject, name: str | None, context: ssl.SSLContext) -> None:
        del name, context
        connection.context = current().context

    first.sni_callback = choose
    return first


def _said(error: Exception) -> str:
    if isinstance(error, ssl.SSLError) and error.reason:
        return error.reason.replace("_", " ").lower()
    return (getattr(error, "strerror", None) or str(error)).lower()
