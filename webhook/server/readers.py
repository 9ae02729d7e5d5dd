"""The text of one setting → its value. Raises ValueError, which says what is wanted."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from webhook.model.release import Minor


def _number(low: int, high: int) -> Callable[[str], int]:
    def read_number(text: str) -> int:
        if not text.isdecimal() or not low <= int(text) <= high:
            raise ValueError(f"got `{text}`, want a number from {low} to {high}")
        return int(text)

    return read_number


def _amount(low: float, high: float, unit: str) -> Callable[[str], float]:
    def read_amount(text: str) -> float:
        try:
            amount = float(text)
        except ValueError:
            amount = math.nan
        if not low <= amount <= high:
            raise ValueError(f"got `{text}`, want {unit} from {low:g} to {high:g}")
        return amount

    return read_amount


def _one_of(*words: str) -> Callable[[str], str]:
    def read_word(text: str) -> str:
        if text not in words:
            raise ValueError(f"got `{text}`, want one of {', '.join(words)}")
        return text

    return read_word


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


def _new_file(text: str) -> Path:
    path = Path(text)
    if path.is_dir():
        raise ValueError(f"`{text}` is a folder, want a file")
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder `{path.parent}` to write `{path.name}` to")
    return path


def _truth(given: str | bool) -> bool:
    if str(given).lower() not in ("true", "false"):
        raise ValueError(f"got `{given}`, want true or false")
    return str(given).lower() == "true"


def _name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise ValueError(f"got `{text}`, want the name of an object: lower-case letters, digits, `-` and `.`")
    return text


def _url(text: str) -> str:
    url = urlsplit(text)
    if url.scheme != "https" or not url.hostname or url.query or url.fragment:
        raise ValueError(f"got `{text}`, want `https://host:port`")
    return text.rstrip("/")


def _certificate(text: str) -> str:
    namespace, _, name = text.partition("/")
    if not _NAME.fullmatch(namespace) or not _NAME.fullmatch(name):
        raise ValueError(f"got `{text}`, want the `namespace/name` of a Certificate")
    return text


_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")

READERS: Final[Mapping[str, Callable[[Any], Any]]] = {
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
    "log_level": _one_of("debug", "info", "warning", "error"),
    "drain_seconds": _amount(0, 60, "seconds"),
    "in_cluster": _truth,
    "kubeconfig": _file,
    "context": str,
    "namespace": _name,
    "tls_secret": _name,
    "register": _name,
    "service": _name,
    "service_port": _number(1, 65535),
    "webhook_url": _url,
    "ca_bundle": _file,
    "inject_ca_from": _certificate,
    "break_glass_group": str,
    "webhook_timeout": _number(1, 30),
    "audit_every": _amount(0.01, 1000, "hours"),
    "audit_report": _one_of("policyreport", "openreports"),
    "record": _new_file,
    "record_percent": _amount(0.001, 100, "percent"),
    "record_limit": _number(1, 1 << 20),
}
