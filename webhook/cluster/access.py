"""How the API server is reached: which credentials there are, and the connection that they make."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final

SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Access:
    """Where the credentials are: a kubeconfig and the name of a context in it ("" for its current one).

    Without a kubeconfig it is the service account that the kubelet mounts into every pod.
    """

    kubeconfig: Path | None = None
    context: str = ""
    service_account: Path = SERVICE_ACCOUNT

    def __str__(self) -> str:
        return f"kubeconfig `{self.kubeconfig}`" if self.kubeconfig else "the service account"

    def namespace(self) -> str:
        """Give the namespace of the pod that this is, "" outside of a cluster."""
        if self.kubeconfig is not None:
            return ""
        try:
            return (self.service_account / "namespace").read_text(encoding="utf-8").strip()
        except OSError:
            return ""


@dataclass(frozen=True, slots=True)
class Credentials:
    """What an `Access` holds, as it is now.

    `authorities` and `certificate` (with its key) are PEM, `authorization` is the header's value, `token_file` the file
    that holds a newer token later on. Only the first two are ever shown.
    """

    url: str
    verify: bool = True
    authorities: str | None = field(default=None, repr=False)
    certificate: str | None = field(default=None, repr=False)
    authorization: str | None = field(default=None, repr=False)
    token_file: Path | None = field(default=None, repr=False)
    impersonation: Headers = field(default=(), repr=False)
    server_name: str | None = field(default=None, repr=False)
    proxy: str | None = field(default=None, repr=False)

    def tls(self) -> ssl.SSLContext:
        """Make the TLS context. Raises OSError (ssl.SSLError is one) when the certificates cannot be used."""
        made = ssl.create_default_context(cadata=self.authorities)
        # From Python 3.13 on certificates are held to rules that Go, and so kubectl, does not know.
        made.verify_flags &= ~ssl.VERIFY_X509_STRICT
        if not self.verify:
            made.check_hostname = False
            made.verify_mode = ssl.CERT_NONE
        if self.certificate:
            with NamedTemporaryFile("w", encoding="ascii", suffix=".pem") as file:  # OpenSSL reads files alone
                file.write(self.certificate)
                file.flush()
                made.load_cert_chain(file.name)
        return made

    async def headers(self) -> Headers:
        """Give the headers that say who asks. Raises OSError when the token's file is gone."""
        authorization = self.authorization
        if self.token_file:  # the kubelet exchanges it long before it expires
            text = await asyncio.to_thread(self.token_file.read_text, encoding="utf-8")
            authorization = f"Bearer {text.strip()}"
        return (*self.impersonation, *((("Authorization", authorization),) if authorization else ()))
