"""What `cozyguard serve` is told: flags, then `COZYGUARD_…` variables, then defaults; checked once, all at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, Final

from webhook.errors import UsageError
from webhook.model.release import Minor

PREFIX: Final = "COZYGUARD_"

LEVELS: Final = ("debug", "info", "warning", "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything the server needs to know; `read` is the way to make one from what people wrote.

    Ports may be 0: the system then chooses, and the log line `serving` names what it chose.
    """

    tls_cert: Path
    """The certificate and its chain, PEM."""
    tls_key: Path
    """The certificate's private key, PEM, not encrypted."""
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


def read(flags: Mapping[str, str | Sequence[str] | None], environ: Mapping[str, str]) -> Settings:
    """Make Settings from flags (None: not given) and variables. Raises UsageError that names every fault.

    Flags are named as the fields; in a variable the paths of `policies` are separated by `:`, as in PATH.
    """
    values: dict[str, Any] = {}
    faults: list[str] = []
    for field in fields(Settings):
        variable = PREFIX + field.name.upper()
        given, called = flags.get(field.name), f"--{field.name.replace('_', '-')}"
        if given is None:
            given, called = environ.get(variable), variable
        if given:
            try:
                values[field.name] = _READERS[field.name](given)
            except ValueError as error:
                faults.append(f"{called}: {error}")
        elif field.default is MISSING:
            faults.append(
                f"--{field.name.replace('_', '-')} is missing (or {variable}): HTTPS needs a certificate and its key"
            )
    if values.get("port") and values.get("port") == values.get("probe_port"):
        faults.append(f"--probe-port: got {values['port']}, the port of the webhook; want another one")
    if faults:
        raise UsageError("\n".join(faults))
    return Settings(**values)


def _number(low: int, high: int) -> Callable[[str], int]:
    def read_number(text: str) -> int:
        if not text.isdecimal() or not low <= int(text) <= high:
            raise ValueError(f"got `{text}`, want a number from {low} to {high}")
        return int(text)

    return read_number


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 60:
        raise ValueError(f"got `{text}`, want seconds from 0 to 60")
    return seconds


def _path(text: str) -> Path:
    path = Path(text)
    if not path.exists():
        raise ValueError(f"`{text}` does not exist")
    if not os.access(path, os.R_OK):
        raise ValueError(f"`{text}` cannot be read")
    return path


def _file(text: str) -> Path:
    path = _path(text)
    if path.is_dir():
        raise ValueError(f"`{text}` is a folder, want a file")
    return path


def _paths(given: str | Sequence[str]) -> tuple[Path, ...]:
    return tuple(map(_path, given.split(os.pathsep) if isinstance(given, str) else given))


def _level(text: str) -> str:
    if text not in LEVELS:
        raise ValueError(f"got `{text}`, want one of {', '.join(LEVELS)}")
    return text


_READERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "tls_cert": _file,
    "tls_key": _file,
    "host": str,
    "port": _number(0, 65535),
    "probe_port": _number(0, 65535),
    "policies": _paths,
    "add_policies": _paths,
    "release": Minor.parse,
    "cluster_state": _file,
    "config": _file,
    "workers": _number(1, 256),
    "log_level": _level,
    "drain_seconds": _seconds,
}
