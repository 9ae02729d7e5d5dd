"""The objects of one kind that are kept, by namespace and name."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from webhook.model.request import Object
from webhook.model.selector import LabelSelector


class Table:
    """Changes by whole objects, which are never changed themselves: who has one has it as it was.

    `changed` is called when what an object says has changed; that only its resourceVersion has does not count.
    """

    def __init__(self, changed: Callable[[], None] | None = None) -> None:
        """Hold nothing yet."""
        self._namespaces: dict[str, dict[str, Object]] = {}
        self._changed = changed

    def __len__(self) -> int:
        return sum(map(len, self._namespaces.values()))

    def get(self, namespace: str, name: str) -> Object | None:
        """Give an object, or None; that of a cluster-scoped kind whatever the namespace."""
        found = self._namespaces.get(namespace, {}).get(name)
        return found if found is not None else self._namespaces.get("", {}).get(name)

    def list(self, namespace: str = "", selector: LabelSelector | None = None) -> list[Object]:
        """Give the objects of a namespace, or all of them, whose labels the selector picks.

        Another thread may ask: dictionaries are listed in one go each, so none changes meanwhile.
        """
        if namespace:
            found = list(self._namespaces.get(namespace, {}).values())
        else:
            found = [obj for objects in list(self._namespaces.values()) for obj in list(objects.values())]
        if selector is None:
            return found
        return [obj for obj in found if selector.matches(obj["metadata"].get("labels") or {})]

    def replace(self, objects: Iterable[Object]) -> None:
        """Hold these and nothing else, from one moment to the next."""
        namespaces: dict[str, dict[str, Object]] = {}
        for obj in objects:
            namespace, name = _key(obj)
            namespaces.setdefault(namespace, {})[name] = obj
        before, self._namespaces = self._namespaces, namespaces
        if self._changed and _said(before) != _said(namespaces):
            self._changed()

    def put(self, obj: Object) -> None:
        """Add an object, or put it in the place of its older state."""
        namespace, name = _key(obj)
        objects = self._namespaces.setdefault(namespace, {})
        before, objects[name] = objects.get(name), obj
        if self._changed and (before is None or _says(before) != _says(obj)):
            self._changed()

    def remove(self, obj: Object) -> None:
        """Take an object out, if it is there."""
        namespace, name = _key(obj)
        objects = self._namespaces.get(namespace, {})
        if objects.pop(name, None) is None:
            return
        if not objects:
            del self._namespaces[namespace]
        if self._changed:
            self._changed()


def _key(obj: Object) -> tuple[str, str]:
    metadata = obj["metadata"]
    return metadata.get("namespace") or "", metadata["name"]


def _says(obj: Object) -> Object:
    metadata = {key: value for key, value in obj["metadata"].items() if key != "resourceVersion"}
    return {**obj, "metadata": metadata}


def _said(namespaces: dict[str, dict[str, Object]]) -> dict[tuple[str, str], Object]:
    return {(namespace, name): _says(obj) for namespace, objects in namespaces.items() for name, obj in objects.items()}
