"""`cozyguard serve`: answer admission reviews over HTTPS."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from webhook.cli.options import RELEASE_HELP, Parser

_EXAMPLES: Final = (
    ("cozyguard serve --tls-cert tls.crt --tls-key tls.key", "serve the bundled policies"),
    ("COZYGUARD_TLS_CERT=tls.crt COZYGUARD_TLS_KEY=tls.key cozyguard serve", "the same, told by variables"),
    (
        "cozyguard serve --in-cluster --tls-secret cozyguard-tls --register cozyguard",
        "serve in a cluster, as the chart does",
    ),
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
    made.switch("--in-cluster", help="watch the cluster that this pod runs in")
    made.option("--kubeconfig", metavar="FILE", help="watch the cluster of this kubeconfig")
    made.option("--context", metavar="NAME", help="the kubeconfig's context (default: its current one)")
    made.option("--namespace", metavar="NAME", help="namespace of our own Leases and Secret (default: the pod's)")
    made.option("--tls-secret", metavar="NAME", help="Secret to keep and renew a certificate in, in place of files")
    made.option("--register", metavar="NAME", help="webhook configurations to keep in step with the policies")
    made.option("--service", metavar="NAME", help="Service that the API server calls (default: cozyguard)")
    made.option("--service-port", metavar="N", help="port of that Service (default: 443)")
    made.option("--webhook-url", metavar="URL", help="what the API server calls instead of a Service")
    made.option("--ca-bundle", metavar="FILE", help="authority to register for a certificate from files, PEM")
    made.option(
        "--inject-ca-from",
        metavar="NAMESPACE/NAME",
        help="cert-manager Certificate whose authority it registers itself",
    )
    made.option(
        "--break-glass-group",
        metavar="GROUP",
        help="group whose requests are not sent to us (default: cozyguard:break-glass)",
    )
    made.option("--webhook-timeout", metavar="N", help="seconds that the API server gives a review (default: 5)")
    made.option("--audit-every", metavar="HOURS", help="have the leader audit the cluster (default: never)")
    made.option("--audit-report", metavar="FORMAT", help="with --audit-every: keep policyreport or openreports objects")
    made.option("--record", metavar="FILE", help="write reviews to this file, without secrets, for `cozyguard replay`")
    made.option("--record-percent", metavar="P", help="with --record: the share that is written (default: 100)")
    made.option("--record-limit", metavar="MIB", help="with --record: size at which the file is full (default: 100)")
    return made


def run(argv: Sequence[str]) -> int:
    """Serve until a signal ends it."""
    arguments = parser().parse(argv, environ={})
    # After the flags: whoever asks for help need not wait for the server's libraries.
    from webhook.server.app import run as serve
    from webhook.server.settings import read

    flags = {name: value or None for name, value in vars(arguments).items()}
    return serve(read(flags, os.environ))
