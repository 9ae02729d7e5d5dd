"""Reading values: fields, indexes, membership, iteration, size."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from webhook.cel.errors import CelError
from webhook.cel.values.compare import equal, is_equal
from webhook.cel.values.lookup import lookup, missing
from webhook.cel.values.maps import MAPS, MISSING, find
from webhook.cel.values.opaque import Opaque
from webhook.cel.values.optional import Optional, optional_index
from webhook.cel.values.types import no_such_overload

_SIZED: Final = frozenset({str, bytes, list}) | MAPS
_ITERABLE: Final = frozenset({list}) | MAPS


def select(value: Any, field: str) -> Any:
    """`value.field`. Raises CelError when there is no such field, on null and scalars too."""
    if type(value) is dict:
        try:
            return value[field]
        except KeyError:
            raise CelError(f"no such key: {field}") from None
    return index(value, field)


def index(container: Any, key: Any) -> Any:
    """`container[key]`. On an optional the result is optional.

    Raises CelError when there is nothing under the key.
    """
    if type(container) is list and type(key) is int and 0 <= key < len(container):
        return container[key]
    if type(container) is Optional:
        return optional_index(container, key)
    found = lookup(container, key)
    if found is MISSING:
        raise missing(container, key)
    return found


def has(value: Any, field: str) -> bool:
    """`has(value.field)`: false on null and scalars. Raises CelError on a list."""
    if type(value) is dict:
        return field in value
    if type(value) is Optional:
        return optional_index(value, field).has_value
    return lookup(value, field) is not MISSING


def member(value: Any, container: Any) -> bool:
    """`value in container`: an element of a list, or a key of a map. Raises CelError for others."""
    kind = type(container)
    if kind is list:
        if type(value) is str:  # strings are equal to strings alone, in Python as in CEL
            return value in container
        compare = is_equal if isinstance(value, Opaque) else equal
        for element in container:  # noqa: SIM110 - half the time of any() with a generator
            if compare(value, element):
                return True
        return False
    if kind in MAPS:
        return find(container, value) is not MISSING
    raise CelError("no such overload")


def items(value: Any) -> Iterable[Any]:
    """What a macro goes through: the elements of a list, the keys of a map. Raises CelError for others."""
    if type(value) in _ITERABLE:
        return value  # type: ignore[no-any-return]  # a list or a dict
    raise CelError("no such overload")


def size(value: Any) -> int:
    """Code points of a string, bytes, elements or entries. Raises CelError for others."""
    if type(value) in _SIZED:
        return len(value)
    raise no_such_overload("size", value)


def condition(value: Any) -> bool:
    """The value of something that has to be bool. Raises CelError when it is not."""
    if value is True or value is False:
        return value
    raise CelError("no such overload")
