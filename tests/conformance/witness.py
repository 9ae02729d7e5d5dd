"""A webhook that lets everything pass, and remembers what an API server asked it: the very requests that ours would get."""

from __future__ import annotations

import base64
import json
import ssl
import tempfile
import threading
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

import trustme

from tests.controlplane.started import Started
from webhook.admission.codec import decode, encode_allowed
from webhook.model.request import AdmissionRequest, Object

SEEN_BY: Final = "witnessed"
"""The field manager of requests that the witness is asked about."""

_KINDS: Final = {"mutate": "MutatingWebhookConfiguration", "validate": "ValidatingWebhookConfiguration"}
_ASKED: Final = f"request.operation == 'DELETE' || request.options.?fieldManager.orValue('') == '{SEEN_BY}'"


class Witness(Started):
    """Listens while it is entered."""

    def __init__(self) -> None:
        super().__init__()
        self._asked: dict[str, bytes] = {}

    def registration(self, rules: Iterable[Object]) -> list[Object]:
        """Give the webhook configurations that have it asked about what these rules match."""
        return [self._configuration(path, list(rules)) for path in _KINDS]

    def take(self) -> dict[str, AdmissionRequest]:
        """Give what was asked since this was called last, by `mutate` and `validate`."""
        asked = {path: decode(body) for path, body in self._asked.items()}
        self._asked.clear()
        return asked

    def note(self, path: str, body: bytes) -> bytes:
        """Remember a review, and answer it."""
        self._asked[path] = body
        return encode_allowed(json.loads(body)["request"]["uid"])

    def _configuration(self, path: str, rules: list[Object]) -> Object:
        hook = {
            "name": f"{path}.witness.example.org",
            "clientConfig": {"url": f"https://127.0.0.1:{self._port}/{path}", "caBundle": self._authority},
            "rules": [rule for rule in rules if path == "validate" or rule["operations"] != ["DELETE"]],
            "matchConditions": [{"name": "asked", "expression": _ASKED}],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        }
        return {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": _KINDS[path],
            "metadata": {"name": "witness"},
            "webhooks": [hook],
        }

    def _start(self) -> None:
        authority = trustme.CA()
        self._authority = base64.b64encode(authority.cert_pem.bytes()).decode()
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        server.daemon_threads = True
        server.socket = _context(authority).wrap_socket(server.socket, server_side=True)
        self._port = server.server_port
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self._stack.callback(server.server_close)
        self._stack.callback(server.shutdown)


def _context(authority: Any) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    leaf = authority.issue_cert("127.0.0.1")
    with tempfile.NamedTemporaryFile() as file:
        leaf.private_key_and_cert_chain_pem.write_to_path(file.name)
        context.load_cert_chain(file.name)
    return context


def _handler(witness: Witness) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            answer = witness.note(self.path.lstrip("/").partition("?")[0], body)
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    return Handler
