"""What a leader is told to keep, and what it is kept in step with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from webhook.controller.registration import Endpoint
from webhook.model.configuration import Configuration
from webhook.model.policy import Policy
from webhook.model.release import Minor


@dataclass(frozen=True, slots=True)
class InForce:
    """What the registration is worked out from."""

    policies: tuple[Policy, ...]
    release: Minor
    configuration: Configuration


@dataclass(frozen=True, slots=True, kw_only=True)
class Duties:
    """One of three says whom API servers are to trust.

    `secret` is the name of the Secret in which we keep certificates of our own, `bundle` gives the CAs of certificates
    from files (PEM), and `inject_from` names the Certificate (`namespace/name`) from which cert-manager fills them in.
    """

    endpoint: Endpoint
    secret: str = ""
    bundle: Callable[[], bytes] | None = None
    inject_from: str = ""
    settle: float = 30.0
    """Seconds that API servers have to learn of a new CA before anything is served that needs it."""
    dead: float = 600.0
    """Seconds without a word after which a replica is gone for good. One that only lost its way to the API server may
    serve on, and so long no CA is taken away that its certificate needs."""
    look: float = 5.0
    """Seconds after which it is looked again, whatever the watches say; what failed is tried again then."""


class NotYet(Exception):
    """Something has to be there first; the message says what."""


class Known(Protocol):
    """Something that is read from the API server."""

    @property
    def known(self) -> bool:
        """Has it been read."""

    @property
    def trouble(self) -> str:
        """What keeps it from being read, "" if nothing does."""


def need(one: Known, what: str) -> None:
    """Raise NotYet unless it is known."""
    if not one.known:
        raise NotYet(f"{what} cannot be read yet{f': {one.trouble}' if one.trouble else ''}")
