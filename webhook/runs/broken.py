"""Manifests that the API server would refuse by itself → input errors, where they are written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from webhook.admission.structures import KUBERNETES, is_builtin_group, kinds
from webhook.engine.secrecy import conceals
from webhook.errors import DocumentError, did_you_mean
from webhook.model.policy import Policy
from webhook.model.request import GroupVersionKind
from webhook.model.result import Result
from webhook.sources.formats.place import Place
from webhook.sources.manifests import Manifest
from webhook.sources.objects import ObjectStore
from webhook.sources.schemas import QUOTES, Fault, Given, Schemas, conform, decodes

_WANT: Final = "want "


class Conformity:
    """Holds manifests to the schemas of their kinds.

    `given` are schemas from files. Without them, only that is told which cannot be an object of Kubernetes at all,
    whoever sends it, and no policy says it in better words: an unknown field, say, is dropped for Helm and Flux, and
    refused where kubectl sends it.
    Values that one of the `policies` calls sensitive are not shown.
    """

    def __init__(self, release: str, store: ObjectStore, given: Given | None, policies: Iterable[Policy] = ()) -> None:
        self._schemas = Schemas(release, given, store)
        self._plural = store.resource
        self._outright = given is None
        self._policies = tuple(policies)

    def faults(self, manifest: Manifest, results: Sequence[Result]) -> Iterator[DocumentError]:
        """Tell every fault of one manifest, which has these results; none where nobody says how its kind is built."""
        if self._outright and decodes(manifest.object):
            return
        kind = GroupVersionKind.of(manifest.object)
        place = Place(manifest.file, manifest.source, manifest.prefix)
        if (structure := self._schemas.of(kind, self._plural(kind))) is None:
            if not self._outright and is_builtin_group(kind.group):
                yield (place / "kind").error(_unknown(kind))
            return
        for fault in conform(manifest.object, structure):
            if not self._outright or (fault.undecodable and not _told(fault, results)):
                yield place.below(fault.path).error(self._words(manifest, fault), of_key=fault.of_key)

    def _words(self, manifest: Manifest, fault: Fault) -> str:
        """Say what is wrong: without a value that must not be seen, and with what is written where that differs."""
        message = fault.message
        obj = manifest.object
        if obj["kind"] == "Secret" or any(conceals(one, obj, fault.path) for one in self._policies):
            return _WANT + message.partition(_WANT)[2] if _WANT in message else message
        if message.endswith(QUOTES):
            written = manifest.source.written(manifest.prefix + fault.path)
            if written and f"got `{written}`," not in message:
                return message.replace("got ", f"got `{written}`, which kubectl reads as ", 1)
        return message


def _unknown(kind: GroupVersionKind) -> str:
    """Say that Kubernetes has no such kind, and which is near, or in which version it has it."""
    own = [one for one in kinds() if one.group == kind.group]
    if versions := sorted(one.version for one in own if one.kind == kind.kind):
        return f"Kubernetes {KUBERNETES} has `{kind.kind}` as {', '.join(versions)}, not as `{kind.api_version}`"
    return f"`{kind.api_version}` has no kind `{kind.kind}`{did_you_mean(kind.kind, {one.kind for one in own})}"


def _told(fault: Fault, results: Sequence[Result]) -> bool:
    return any(each.refuses and each.finding.field == fault.path for each in results)
