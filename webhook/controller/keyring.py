"""What the Secret with our certificates holds, and how it is written there."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from webhook.controller.certificates import Fault, Pair, fingerprint, judge
from webhook.model.request import Object

LEAF: Final = "cozyguard.io/leaf"
"""Annotation: the fingerprint of a leaf. On the Secret it is the one that may be served, put there by the leader once
API servers trust it: a pair that somebody else has put in is not taken. On a replica's Lease it is the one served."""

NO_PAIR: Final = Pair(b"", b"")


@dataclass(frozen=True, slots=True, repr=False)
class Keyring:
    """`pair` is what replicas serve, `upcoming` what they will, `trusted` the CAs of both, PEM."""

    pair: Pair = NO_PAIR
    trusted: bytes = b""
    upcoming: Pair = NO_PAIR
    approved: str = ""

    @classmethod
    def of(cls, secret: Object | None) -> Keyring:
        """Read a Secret, whatever somebody has made of it."""
        data, metadata = (secret or {}).get("data") or {}, (secret or {}).get("metadata") or {}

        def value(key: str) -> bytes:
            try:
                return base64.b64decode(data.get(key) or "", validate=True)
            except (binascii.Error, TypeError, ValueError):
                return b""

        return cls(
            Pair(value("tls.crt"), value("tls.key")),
            value("ca.crt"),
            Pair(value("next.crt"), value("next.key")),
            str((metadata.get("annotations") or {}).get(LEAF, "")),
        )

    def fault(self, hosts: Iterable[str], now: datetime) -> Fault | None:
        """Say why the pair is not to be served, if it is not."""
        if fault := judge(self.pair, self.trusted, hosts, now):
            return fault
        return None if self.approved == self.leaf else Fault.FOREIGN

    @property
    def leaf(self) -> str:
        """The fingerprint of what is to be served."""
        return fingerprint(self.pair.certificate)

    def onto(self, secret: Object | None, namespace: str, name: str) -> Object:
        """Write it into the Secret, or into a new one; what else stands there stays."""
        metadata = dict((secret or {}).get("metadata") or {"namespace": namespace, "name": name})
        metadata["annotations"] = {**(metadata.get("annotations") or {}), LEAF: self.approved}
        ours = {"tls.crt": self.pair.certificate, "tls.key": self.pair.key, "ca.crt": self.trusted}
        if self.upcoming != NO_PAIR:
            ours |= {"next.crt": self.upcoming.certificate, "next.key": self.upcoming.key}
        there = (secret or {}).get("data") or {}
        others = {key: value for key, value in there.items() if key not in ("next.crt", "next.key")}
        data = others | {key: base64.b64encode(value).decode() for key, value in ours.items()}
        new: Object = {"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls"}
        return (secret or new) | {"metadata": metadata, "data": data}
