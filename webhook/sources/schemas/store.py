"""Which structure an object has: of what was given, of definitions at hand, of Cozystack's release, of Kubernetes."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from webhook.admission.structures import DEFINITION, Structure, builtin, cozystack, defined, is_read
from webhook.cel.errors import NotKnown
from webhook.engine.context import Cluster
from webhook.model.request import GroupVersionKind, Object
from webhook.sources.schemas.documents import Given

APPLICATIONS: Final = "apps.cozystack.io"


class Schemas:
    """Answers for kinds; what is said nearer to the object wins.

    `given` was read from files (`--schemas=PATH`). `cluster` holds CustomResourceDefinitions, under the names that
    `plural` makes. `release` is Cozystack's, such as `1.6`.
    """

    def __init__(self, release: str, given: Given | None = None, cluster: Cluster | None = None) -> None:
        self._release = release
        self._given = given or Given()
        self._cluster = cluster
        self._known: dict[GroupVersionKind, Structure | None] = {}

    def of(self, kind: GroupVersionKind, plural: str) -> Structure | None:
        """Give the structure of a kind; None where nobody says."""
        if kind not in self._known:
            self._known[kind] = (
                self._given.structure(kind) or self._defined(kind, plural) or self._of_cozystack(kind) or builtin(kind)
            )
        return self._known[kind]

    def _of_cozystack(self, kind: GroupVersionKind) -> Structure | None:
        """Give what the release says. Of one that nobody has read, applications may have fields that others lack."""
        if kind.group == APPLICATIONS and not is_read(self._release):
            return None
        return cozystack(kind, self._release)

    def _defined(self, kind: GroupVersionKind, plural: str) -> Structure | None:
        if self._cluster is None or not kind.group:
            return None
        definition: Object | None = None
        with suppress(NotKnown):
            definition = self._cluster.get(*DEFINITION, "", f"{plural}.{kind.group}")
        return defined(definition, kind.version) if definition else None
