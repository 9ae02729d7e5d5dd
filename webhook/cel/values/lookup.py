"""Finding what stands under a key: the rule that selecting, indexing and testing share."""

from __future__ import annotations

from typing import Any

from webhook.cel.errors import CelError
from webhook.cel.values.maps import MAPS, MISSING, find
from webhook.cel.values.text import show
from webhook.cel.values.types import Uint, type_of

_INTEGERS = frozenset({int, Uint})


def lookup(container: Any, key: Any) -> Any:
    """What a map or a list has under the key, or MISSING.

    Null and scalars have nothing under any key, which is how the API server runs cel-go (its
    `refQualify` without `EnableErrorOnBadPresenceTest`). Raises CelError for a list and a key that
    is no integral number.
    """
    kind = type(container)
    if kind in MAPS:
        return find(container, key)
    if kind is list:
        position = _position(key)
        return container[position] if 0 <= position < len(container) else MISSING
    return MISSING


def missing(container: Any, key: Any) -> CelError:
    """The error for a key that is not there."""
    if type(container) is list:
        return CelError(f"index out of bounds: {show(key)}")
    return CelError(f"no such key: {show(key)}")


def _position(key: Any) -> int:
    kind = type(key)
    if kind in _INTEGERS:
        return int(key)
    if kind is not float:
        raise CelError(f"unsupported index type '{type_of(key).name}' in list")
    if not key.is_integer():
        raise CelError(f"unsupported index value {show(key)} in list")
    return int(key)
