"""`cozyguard serve`: answer admission reviews over HTTPS."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from webhook.cli.options import RELEASE_HELP, Parser

_EXAMPLES: Final = (
    ("cozyguard serve --tls-cert tls.crt --tls-key tls.key", "serve the bundled policies"),
    ("COZYGUARD_TLS_CERT=tls.crt COZYGUARD_TLS_KEY=tls.key cozyguard serve", "serve as a container does"),
)


def parser() -> Parser:
    """Describe the flags. What they hold is judged by the server's own settings."""
    made = Parser("serve", "Answer admission reviews over HTTPS: /validate and /mutate.", _EXAMPLES)
    made.option("--tls-cert", metavar="FILE", help="certificate chain, PEM; read again when it changes")
    made.option("--tls-key", metavar="FILE", help="its private key, PEM")
    made.option("--host", metavar="ADDRESS", help="address to listen on (default: all)")
    made.option("--port", metavar="N", help="port of the webhook (default: 8443)")
    made.option("--probe-port", metavar="N", help="port of /healthz, /readyz and /metrics, without TLS (default: 8080)")
    made.repeatable("--policies", metavar="PATH", help="policies to use in place of the bundled ones")
    made.repeatable("--add-policies", metavar="PATH", help="policies to add")
    made.option(
        "--release",
        metavar="VERSION",
        help=RELEASE_HELP,
    )
    made.option("--cluster-state", metavar="FILE", help="objects of the cluster; read again when it changes")
    made.option("--config", metavar="FILE", help="modes, exemptions and exceptions")
    made.option("--workers", metavar="N", help="processes on one port (default: 1)")
    made.option("--log-level", metavar="LEVEL", help="debug, info, warning or error (default: info)")
    made.option("--drain-seconds", metavar="N", help="how long a stopping server takes new connections (default: 3)")
    return made


def run(argv: Sequence[str]) -> int:
    """Serve until a signal ends it."""
    arguments = parser().parse(argv, environ={})
    # After the flags: whoever asks for help need not wait for the server's libraries.
    from webhook.server.app import run as serve
    from webhook.server.settings import read

    flags = {name: value or None for name, value in vars(arguments).items()}
    return serve(read(flags, os.environ))
