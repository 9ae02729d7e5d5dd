"""What is kept of an object that policies look up: the fields that they can read, and what makes it an object."""

from __future__ import annotations

import sys
from typing import Any, Final, TypeAlias

from webhook.cel.needs import Needs
from webhook.cel.reads import ANY
from webhook.model.request import Object

Fields: TypeAlias = "dict[str, Fields] | None"
"""What is kept by key, `*` for any element or key; None keeps everything."""

ALWAYS: Final = Needs(
    whole=frozenset(
        {
            ("apiVersion",),
            ("kind",),
            *(
                ("metadata", field)
                for field in ("name", "namespace", "labels", "uid", "deletionTimestamp", "resourceVersion")
            ),
        }
    )
)

_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
"""The whole object once more, as text."""

_SECRET_VALUES: Final = (("data",), ("stringData",))


class Keep:
    """Called with an object, gives what is kept of it. Keys on the way there are one string for all objects.

    `metadata.managedFields` and the annotation of the last applied configuration are always left out. Of a Secret's
    values only those are kept that policies read by their key, or one by one: of the others the keys are.
    """

    def __init__(self, needs: Needs, *, secret: bool = False) -> None:
        """Keep what is needed, besides what every object keeps."""
        self._fields = _fields(needs | ALWAYS)
        self._secret = secret
        self._read = {path[1] for path in needs.whole if path[:1] in _SECRET_VALUES and len(path) > 1}

    def __call__(self, obj: Object) -> Object:
        kept = {**_prune(obj, self._fields)}
        kept["metadata"] = _shortened(kept["metadata"])
        if self._secret:
            self._blank(kept)
        for field in ("apiVersion", "kind"):
            if isinstance(kept.get(field), str):
                kept[field] = sys.intern(kept[field])
        return kept

    def _blank(self, kept: Object) -> None:
        """Leave no value of a Secret but those that are read by their key."""
        for (field,) in _SECRET_VALUES:
            values = kept.get(field)
            if isinstance(values, dict) and ANY not in self._read:
                kept[field] = {key: value if key in self._read else "" for key, value in values.items()}


def _fields(needs: Needs) -> Fields:
    """Put the paths together as a tree; what is kept of any key is kept of each that is named beside it."""
    if () in needs.whole:
        return None
    paths = needs.whole | needs.present
    steps = {str(path[0]) for path in paths if path}
    return {step: _fields(_below(needs, step)) for step in steps}


def _below(needs: Needs, step: str) -> Needs:
    def below(paths: frozenset[Any]) -> frozenset[Any]:
        return frozenset(path[1:] for path in paths if path and path[0] in (step, ANY))

    return Needs(below(needs.whole), below(needs.present))


def _prune(value: Any, fields: Fields) -> Any:
    """Give a value as far as it is kept. What is no map and no list is kept: it is what expressions take it for."""
    if fields is None:
        return value
    if isinstance(value, dict):
        return {
            sys.intern(key): _prune(part, fields.get(key, fields.get(ANY)))
            for key, part in value.items()
            if key in fields or ANY in fields
        }
    if isinstance(value, list):
        return [_prune(part, fields[ANY]) for part in value] if ANY in fields else []
    return value


def _shortened(metadata: Object) -> Object:
    """Leave out what nobody decides by."""
    kept = {key: value for key, value in metadata.items() if key != "managedFields"}
    if isinstance(annotations := kept.get("annotations"), dict):
        kept["annotations"] = {key: value for key, value in annotations.items() if key != _LAST_APPLIED}
    return kept
