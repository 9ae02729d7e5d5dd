"""What `cozyguard serve` is told: flags, then `COZYGUARD_…` variables, then defaults; checked once, all at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from webhook.errors import UsageError
from webhook.model.release import Minor
from webhook.server.readers import READERS

PREFIX: Final = "COZYGUARD_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything the server needs to know; `read` is the way to make one from what people wrote.

    Ports may be 0: the system then chooses, and the log line `serving` names what it chose.
    """

    tls_cert: Path | None = None
    """The certificate and its chain, PEM; None with `tls_secret`."""
    tls_key: Path | None = None
    """The certificate's private key, PEM, not encrypted; None with `tls_secret`."""
    host: str = ""
    """The address to listen on; "" is every address, IPv4 and IPv6."""
    port: int = 8443
    probe_port: int = 8080
    """`/healthz`, `/readyz` and `/metrics`, without TLS."""
    policies: tuple[Path, ...] = ()
    """Files or folders; none means the bundled policies."""
    add_policies: tuple[Path, ...] = ()
    release: Minor | None = None
    """None: the configuration says it, else the newest release known."""
    cluster_state: Path | None = None
    """Objects of the cluster, for lookups."""
    config: Path | None = None
    workers: int = 1
    """Processes on one port."""
    log_level: str = "info"
    """`info` logs every review, `warning` only those that were refused, and faults."""
    drain_seconds: float = 3.0
    """How long SIGTERM leaves the port open after readiness went false, for load balancers to notice."""
    in_cluster: bool = False
    """Watch the cluster that this pod runs in, as its service account."""
    kubeconfig: Path | None = None
    """Watch the cluster of this kubeconfig."""
    context: str = ""
    """The kubeconfig's context; "" is its current one."""
    namespace: str = ""
    """Where our own Leases and Secret are; "": the service account's namespace, else `cozyguard`."""
    tls_secret: str = ""
    """The Secret that certificates are kept in, and renewed, by ourselves."""
    register: str = ""
    """The webhook configurations to keep in step with the policies; "" keeps none."""
    service: str = "cozyguard"
    """The Service in front of us: what the API server calls, and the certificate's names."""
    service_port: int = 443
    webhook_url: str = ""
    """What the API server calls instead of a Service: `https://host:port`."""
    ca_bundle: Path | None = None
    """What to register as trusted for a certificate from files, PEM."""
    inject_ca_from: str = ""
    """The cert-manager Certificate (`namespace/name`) whose CA cert-manager registers by itself."""
    break_glass_group: str = "cozyguard:break-glass"
    """Requests of this group are not sent to us."""
    webhook_timeout: int = 5
    """Seconds that the API server gives a review."""
    audit_every: float = 0
    """Hours between two audits of the cluster by the leader; 0: none."""
    audit_report: str = ""
    """What they keep in the cluster: `policyreport` or `openreports`."""
    record: Path | None = None
    """Where reviews are written, without secrets, for `cozyguard replay`."""
    record_percent: float = 100
    """The share of them that is."""
    record_limit: int = 100
    """MiB at which the file is full."""

    @property
    def pair(self) -> tuple[Path, Path] | None:
        """Certificate and key from files; None where they are in a Secret."""
        return (self.tls_cert, self.tls_key) if self.tls_cert and self.tls_key else None

    @property
    def live(self) -> bool:
        """Is there a cluster to watch."""
        return self.in_cluster or self.kubeconfig is not None


def read(flags: Mapping[str, str | Sequence[str] | None], environ: Mapping[str, str]) -> Settings:
    """Make Settings from flags (None: not given) and variables. Raises UsageError that names every fault.

    Flags are named as the fields; in a variable the paths of `policies` are separated by `:`, as in PATH.
    """
    values: dict[str, Any] = {}
    faults: list[str] = []
    for field in fields(Settings):
        variable = PREFIX + field.name.upper()
        given, called = flags.get(field.name), _flag(field.name)
        if given is None:
            given, called = environ.get(variable), variable
        if given:
            try:
                values[field.name] = READERS[field.name](given)
            except ValueError as error:
                faults.append(f"{called}: {error}")
                values[field.name] = given  # it is there, even if nothing can be made of it
    faults += _contradictions(Settings(**values))
    if faults:
        raise UsageError("\n".join(faults))
    return Settings(**values)


def _contradictions(given: Settings) -> Iterator[str]:
    """Say what does not go together, or is missing beside what is there."""
    if given.port and given.port == given.probe_port:
        yield f"--probe-port: got {given.port}, the port of the webhook; want another one"
    if given.in_cluster and given.kubeconfig:
        yield "--in-cluster and --kubeconfig name two clusters, want one"
    if given.tls_secret and (given.tls_cert or given.tls_key):
        yield "--tls-secret: there is a certificate from files as well, want one or the other"
    for field in () if given.tls_secret else ("tls_cert", "tls_key"):
        if not getattr(given, field):
            flag, variable = _flag(field), PREFIX + field.upper()
            yield f"{flag} is missing (or {variable}): HTTPS needs a certificate and its key"
    for field in () if given.live else ("tls_secret", "register"):
        if getattr(given, field):
            yield f"{_flag(field)} needs a cluster: --in-cluster or --kubeconfig"
    if given.register and sum(map(bool, (given.tls_secret, given.ca_bundle, given.inject_ca_from))) != 1:
        yield "--register needs one of --tls-secret, --ca-bundle and --inject-ca-from: what the API server is to trust"
    if given.audit_every and not given.live:
        yield "--audit-every needs a cluster: --in-cluster or --kubeconfig"
    if given.audit_report and not given.audit_every:
        yield "--audit-report is of audits, which --audit-every asks for"
    if given.cluster_state and given.live:
        yield "--cluster-state: the cluster itself is watched, want one or the other"


def _flag(field: str) -> str:
    return f"--{field.replace('_', '-')}"
