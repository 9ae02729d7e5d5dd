"""ApplyConfiguration → a changed object: merged as the API server merges it for a MutatingAdmissionPolicy.

Maps are merged key by key, lists by the keys of their entries, sets by their values. A list or map that is one value
(`atomic`) cannot be given: whoever means to change a part of it would lose the rest. A field that is null, or
`optional.none()`, is taken away where it is a scalar or one value; null merges nothing into what has entries. An empty
list adds nothing, and is not even there if nothing else is.

What the API server does: `pkg/admission/plugin/policy/mutating/patch/smd.go` of k8s.io/apiserver, and `typed/` of
sigs.k8s.io/structured-merge-diff.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from typing import Any, Final

from webhook.admission.structures import DEFINITION, Structure, builtin, defined
from webhook.cel.errors import CelError
from webhook.engine.context import Cluster
from webhook.errors import did_you_mean
from webhook.model.path import Path, render
from webhook.model.request import AdmissionRequest, Object

_SEVERAL: Final = object()
"""Stands for a live entry whose key others have too: it is replaced, not merged."""


def structure_of(request: AdmissionRequest, cluster: Cluster) -> Structure:
    """Find out how the object of a request is built.

    Raises NotKnown where its CustomResourceDefinition is not at hand, CelError where there is none.
    """
    if found := builtin(request.kind):
        return found
    definition = cluster.get(*DEFINITION, "", f"{request.resource.resource}.{request.resource.group}")
    if definition and (declared := defined(definition, request.kind.version)):
        return declared
    raise CelError(f"nobody says how {request.kind.kind} is built: it has no CustomResourceDefinition")


def apply_configuration(obj: Object, configuration: Any, structure: Structure) -> Object:
    """Merge a configuration into an object, which stays as it is. Raises CelError that names the field at fault."""
    if not isinstance(configuration, dict):
        raise CelError("the expression gives no `Object{…}`")
    _check(configuration, structure, (), declared=True)
    return _merge_maps(structure, obj, configuration)


def _check(value: Any, structure: Structure, path: Path, *, declared: bool) -> None:
    """Check a value as written. `declared`: it stands in no map of free keys, into which Kubernetes does not look."""
    match value:
        case None:
            return
        case dict() if structure.is_map:
            if structure.replaces_map and declared:
                raise _one_value(path)
            for key, inner in value.items():
                known = key in structure.fields
                field = structure.field(key)
                if field is None:
                    raise CelError(f"no field `{render((*path, key))}`{did_you_mean(key, structure.fields)}")
                _check(inner, field, (*path, key), declared=declared and known)
        case list() if structure.is_list:
            if structure.replaces_list and declared:
                raise _one_value(path)
            if not structure.replaces_list:
                _check_keys(structure, value, path)
            for index, inner in enumerate(value):
                _check(inner, structure.items, (*path, index), declared=declared)
        case _ if not _fits(value, structure.scalar):
            raise CelError(f"`{render(path)}`: got {_named(value)}, want {_wanted(structure)}")


def _one_value(path: Path) -> CelError:
    return CelError(
        f"`{render(path)}` is one value to Kubernetes (atomic), so none of it can be applied; write a JSONPatch"
    )


def _check_keys(structure: Structure, entries: list[Any], path: Path) -> None:
    seen: set[Hashable] = set()
    for index, entry in enumerate(entries):
        key = _key(structure, entry, (*path, index))
        if key in seen:
            raise CelError(f"`{render((*path, index))}` has the key of an entry before it")
        seen.add(key)


def _fits(value: Any, scalar: str) -> bool:
    match value:
        case bool():
            return "true or false" in scalar
        case int() | float():
            return "a number" in scalar
        case str():
            return "text" in scalar
        case _:
            return False


def _named(value: Any) -> str:
    names = {dict: "a map", list: "a list", bool: "true or false", str: "text"}
    return names.get(type(value), "a number")


def _wanted(structure: Structure) -> str:
    return structure.scalar or ("a map" if structure.is_map else "a list")


def _merge(structure: Structure, live: Any, given: Any) -> Any:
    """Merge a value; None means that there is none."""
    match given:
        case dict() if not structure.replaces_map:
            return _merge_maps(structure, live if isinstance(live, dict) else {}, given)
        case list() if not structure.replaces_list:
            return _merge_lists(structure, live if isinstance(live, list) else [], given) or None
        case None if live and not _replaced(structure, live):
            return live
        case _:
            return given


def _replaced(structure: Structure, live: Any) -> bool:
    if isinstance(live, dict):
        return structure.replaces_map
    return structure.replaces_list if isinstance(live, list) else True


def _merge_maps(structure: Structure, live: Object, given: Object) -> Object:
    made = dict(live)
    for key, value in given.items():
        field = structure.field(key)
        assert field is not None  # noqa: S101 - `_check` has seen to it
        merged = _merge(field, live.get(key), value)
        if merged is None:
            made.pop(key, None)
        else:
            made[key] = merged
    return made


def _merge_lists(structure: Structure, live: list[Any], given: list[Any]) -> list[Any]:
    """Merge entries of one key. Live entries keep their order, those that are in both stand as they are given.

    New entries come after the live ones that they cannot pass without one of those in both changing its place.
    """
    of_live = [_key(structure, entry, (index,)) for index, entry in enumerate(live)]
    of_given = [_key(structure, entry, (index,)) for index, entry in enumerate(given)]
    known: dict[Hashable, Any] = {}
    for key, entry in zip(of_live, live, strict=True):
        known[key] = _SEVERAL if key in known else entry
    wanted = set(of_given)
    in_both = deque(key for key in of_given if key in known)
    merged: set[Hashable] = set()
    made: list[Any] = []
    left = right = 0

    def take_given() -> None:
        nonlocal right
        key = of_given[right]
        before = known.get(key)
        made.append(_merge(structure.items, None if before is _SEVERAL else before, given[right]))
        merged.add(key)
        if in_both and in_both[0] == key:
            in_both.popleft()
        right += 1

    while left < len(live) or right < len(given):
        key = of_live[left] if left < len(live) else None
        if left == len(live):
            take_given()
        elif right < len(given) and key == of_given[right]:
            take_given()
            left += 1
        elif key not in wanted:
            made.append(live[left])
            left += 1
        elif right < len(given) and in_both and in_both[0] != key:
            left += 1  # its place is further on
        else:
            left += key in merged
            if right < len(given):
                take_given()
    return made


def _key(structure: Structure, entry: Any, path: Path) -> Hashable:
    """Give what tells an entry apart. Raises CelError where it has nothing of the kind."""
    if not structure.keys:
        if isinstance(entry, dict | list) or entry is None:
            raise CelError(
                f"`{render(path)}`: got {'null' if entry is None else _named(entry)}, want a scalar of a set"
            )
        return _hashable(entry)
    if not isinstance(entry, dict):
        raise CelError(f"`{render(path)}`: want a map with {_listed(structure.keys)}, which the list is merged by")
    defaults = structure.items.defaults
    found = [
        (name, entry.get(name, defaults.get(name))) for name in structure.keys if name in entry or name in defaults
    ]
    if not found:
        raise CelError(f"`{render(path)}` has no {_listed(structure.keys)}, which the list is merged by")
    return tuple((name, _hashable(value)) for name, value in found)


def _hashable(value: Any) -> Hashable:
    """Tell true from 1, which Python does not."""
    return isinstance(value, bool), value if isinstance(value, Hashable) else repr(value)


def _listed(names: Iterable[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)
