"""The other objects that rules look up: those of the files at hand, and of a file that says what the cluster holds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from webhook.admission.plurals import Plurals
from webhook.cel.errors import NotKnown
from webhook.model.request import GroupVersionKind, Object
from webhook.model.selector import LabelSelector
from webhook.sources.lists import item_kind, unfold

_Kind = tuple[str, str]
"""Group and kind. The version is left out: the API server serves one object in all versions of its kind."""

NAME_LABEL = "kubernetes.io/metadata.name"


class ObjectStore:
    """Answers for the objects given, and knows which answers it cannot give.

    `objects` answer for themselves. `state` is what the cluster holds, complete for every kind in it: a typed list
    without items (`kind: PackageList`, `items: []`) says that there is none. With `closed_world` whatever was not given
    does not exist. Both may hold Lists; of two objects with one name the one in `objects` counts, for it is what
    the cluster gets. Objects of namespaced kinds that name no namespace are in `namespace`.
    """

    def __init__(
        self,
        objects: Iterable[Object] = (),
        *,
        state: Iterable[Object] = (),
        closed_world: bool = False,
        namespace: str = "default",
    ) -> None:
        """Sort the objects by kind, namespace and name; what is no object is passed over."""
        self._objects: dict[_Kind, dict[tuple[str, str], Object]] = {}
        self._complete: set[_Kind] = set()
        self._closed_world = closed_world
        listed = [each for value in state for each in self._note(value)]
        given = listed + [each for value in objects for _, each in unfold(value) if _is_object(each)]
        self.plurals = Plurals(given)
        for each in given:
            self._add(each, namespace)

    def get(self, api_version: str, kind: str, namespace: str, name: str) -> Object | None:
        """Give an object, or None when it is known to be absent. Raises NotKnown."""
        key = _key(api_version, kind)
        found = self._objects.get(key, {})
        if (namespace, name) in found:
            return found[namespace, name]
        if ("", name) in found:
            return found["", name]
        if not self._knows(key):
            raise NotKnown(f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}")
        return None

    def list(self, api_version: str, kind: str, namespace: str, selector: LabelSelector | None) -> list[Object]:
        """Give all objects of a kind, in all namespaces when `namespace` is "". Raises NotKnown."""
        key = _key(api_version, kind)
        if not self._knows(key):
            raise NotKnown(f"every {kind} in namespace {namespace}" if namespace else f"every {kind}")
        return [
            each
            for (place, _), each in self._objects.get(key, {}).items()
            if namespace in ("", place) and (selector is None or selector.matches(labels(each)))
        ]

    def namespace(self, name: str) -> Object:
        """Give a Namespace, with the label that every Namespace has; there is one where nobody gave it, too."""
        nobodys = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        found = self._objects.get(("", "Namespace"), {}).get(("", name), nobodys)
        return {**found, "metadata": {**found["metadata"], "labels": {NAME_LABEL: name, **labels(found)}}}

    def resource(self, kind: GroupVersionKind) -> str:
        """Give the plural of a kind, from the CRDs at hand if they tell."""
        return self.plurals.resource(kind)

    def namespaced(self, kind: GroupVersionKind) -> bool | None:
        """Does a kind live in namespaces, from the CRDs at hand if they tell; None when nobody here knows."""
        return self.plurals.namespaced(kind)

    def _note(self, value: Any) -> Iterable[Object]:
        """Unfold what the cluster holds, and note the kinds for which that is all."""
        if (kind := item_kind(value)) is not None:
            self._complete.add((kind.group, kind.kind))
        found = [each for _, each in unfold(value) if _is_object(each)]
        self._complete.update(_key(each["apiVersion"], each["kind"]) for each in found)
        return found

    def _add(self, obj: Object, default: str) -> None:
        kind = GroupVersionKind.of(obj)
        metadata = obj["metadata"]
        scoped = self.plurals.namespaced(kind)
        namespace = "" if scoped is False else metadata.get("namespace") or (default if scoped else "")
        self._objects.setdefault((kind.group, kind.kind), {})[str(namespace), str(metadata.get("name", ""))] = obj

    def _knows(self, key: _Kind) -> bool:
        return self._closed_world or key in self._complete


def labels(obj: Object) -> dict[str, str]:
    """Read an object's labels, as far as they are text."""
    found = obj["metadata"].get("labels")
    return {key: value for key, value in found.items() if isinstance(value, str)} if isinstance(found, dict) else {}


def _key(api_version: str, kind: str) -> _Kind:
    return api_version.rpartition("/")[0], kind


def _is_object(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("apiVersion"), str)
        and isinstance(value.get("kind"), str)
        and isinstance(value.get("metadata"), dict)
    )
