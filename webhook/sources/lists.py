"""Lists of objects: `kind: List`, typed lists such as `PackageList`, and what kubectl makes of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from webhook.model.path import Path
from webhook.model.request import GroupVersionKind


def is_list(value: Any) -> bool:
    """Is it a list of objects; kubectl takes every object with a list called `items` for one."""
    return isinstance(value, dict) and isinstance(value.get("items"), list)


def unfold(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Give the objects of a list, of lists in it too, each with the path that leads to it; or the value itself.

    As in kubectl, items of a typed list need neither `apiVersion` nor `kind`.
    """
    if not is_list(value):
        yield path, value
        return
    kind = item_kind(value)
    for index, item in enumerate(value["items"]):
        if kind and isinstance(item, dict) and not (item.get("kind") and item.get("apiVersion")):
            item = {"apiVersion": kind.api_version, "kind": kind.kind, **item}
        yield from unfold(item, (*path, "items", index))


def item_kind(value: Any) -> GroupVersionKind | None:
    """Tell what a typed list holds, even if it is empty; None for `kind: List` and for what is no list."""
    kind = GroupVersionKind.of(value) if is_list(value) else None
    if kind is None or not kind.kind.endswith("List") or kind.kind == "List":
        return None
    return GroupVersionKind(kind.group, kind.version, kind.kind.removesuffix("List"))
