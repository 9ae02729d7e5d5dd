"""Who last set a field: read from `metadata.managedFields`, where the API server keeps books of it.

A set of fields is nested maps: `f:NAME` is a key, `k:{JSON}` the element of a list that has these fields, `v:JSON` that
value in a list, `i:N` an index, `.` the node itself; a map without keys is a leaf, with all that it holds.
https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from webhook.model.path import Path, walk
from webhook.model.request import Object
from webhook.model.result import SetBy

_BY_HAND: Final = ("kubectl", "k9s", "Mozilla")
"""How the names of managers begin that people work with: without a name of its own, a program's User-Agent is taken."""
_CONTROLLER: Final = ("-controller", "-operator", "-controller-manager")


def set_by(obj: Object, path: Path) -> SetBy | None:
    """Find the manager that owns what stands at a path, or the whole that it is part of; of several the last to write.

    None where nothing stands there, and where nobody owns it: a default.
    """
    if not path or not walk(obj, path)[0]:
        return None
    owners = [_set_by(entry) for entry in _entries(obj) if _owns(entry.get("fieldsV1"), obj, path)]
    return max(owners, key=lambda owner: owner.time, default=None)


def _entries(obj: Object) -> Iterator[Mapping[str, Any]]:
    metadata = obj.get("metadata")
    entries = metadata.get("managedFields") if isinstance(metadata, dict) else None
    yield from (one for one in entries or () if isinstance(one, dict))


def _set_by(entry: Mapping[str, Any]) -> SetBy:
    manager = str(entry.get("manager", ""))
    return SetBy(manager, str(entry.get("operation", "")), str(entry.get("time", "")), _by_hand(manager))


def _by_hand(manager: str) -> bool | None:
    if manager.startswith(_BY_HAND):
        return True
    return False if manager.endswith(_CONTROLLER) else None


def _owns(fields: Any, value: Any, path: Path) -> bool:
    """Follow the path through a set of fields; where the set ends first, it holds the whole."""
    if not isinstance(fields, dict):
        return False
    for step in path:
        value = _child(value, step)
        found = next((more for key, more in fields.items() if _means(key, step, value)), None)
        if not isinstance(found, dict):
            return False
        if not found:
            return True
        fields = found
    return True


def _child(value: Any, step: str | int) -> Any:
    if isinstance(value, dict):
        return value.get(str(step))
    return value[step] if isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value) else None


def _means(key: str, step: str | int, element: Any) -> bool:
    sort, _, text = key.partition(":")
    if sort == "f" or (sort == "i" and isinstance(step, int)):
        return text == str(step)
    if sort == "v":
        return bool(json.loads(text) == element)
    if sort == "k" and isinstance(element, dict):
        named: dict[str, Any] = json.loads(text)
        return all(element.get(name) == value for name, value in named.items())
    return False
