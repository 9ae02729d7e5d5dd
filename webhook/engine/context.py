"""What a decision needs besides the request: handed in, so that the engine never has to ask."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Protocol

from webhook.model.authorization import Attributes, Authorization
from webhook.model.configuration import Configuration
from webhook.model.release import Release
from webhook.model.request import Object
from webhook.model.selector import LabelSelector


class Cluster(Protocol):
    """The other objects: a watch cache, or the files at hand.

    Each method raises `webhook.cel.errors.NotKnown` when it cannot know the answer.
    """

    def get(self, api_version: str, kind: str, namespace: str, name: str) -> Object | None:
        """One object, or None when it is known to be absent."""

    def list(self, api_version: str, kind: str, namespace: str, selector: LabelSelector | None) -> list[Object]:
        """All objects of a kind, in all namespaces when `namespace` is ""."""

    def namespace(self, name: str) -> Object:
        """The Namespace; where nobody gave it, one with its name and its `kubernetes.io/metadata.name` label."""


DEFAULT_CONFIGURATION: Final = Configuration()


_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)


def _no_deadline() -> bool:
    return False


def _nobody(attributes: Attributes) -> None:
    """Know no answer."""


@dataclass(frozen=True, slots=True)
class Context:
    """Everything outside the request that a decision may depend on.

    `expired` says whether the request's deadline has passed. `skip_unknown`: a rule whose lookup is
    not known is skipped and says so (files), or is our own failure (server). Of one policy's findings
    `most_explained` are explained, where no more are shown anyway; the others get plain words. `authorizer`
    answers what expressions ask of `authorizer`: None, or NotKnown, when it cannot without asking others.
    """

    release: Release
    cluster: Cluster
    configuration: Configuration = DEFAULT_CONFIGURATION
    now: datetime = _LONG_AGO
    expired: Callable[[], bool] = _no_deadline
    skip_unknown: bool = True
    most_explained: int = sys.maxsize
    authorizer: Callable[[Attributes], Authorization | None] = _nobody
