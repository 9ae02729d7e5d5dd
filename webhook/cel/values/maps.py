"""Maps: a plain `dict`, except where Python takes two CEL keys for one.

In CEL the keys `1`, `1u` and `1.0` are one key and `true` is another; in Python `True == 1` too. A
map with bool keys is therefore a `BoolMap`. Objects of the API have string keys only and stay as
they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from webhook.cel.errors import CelError
from webhook.cel.values.text import show
from webhook.cel.values.types import Uint, cel_type

MISSING: Final = object()
"""What `find` gives for a key that the map does not have."""

KEYS: Final = frozenset({str, int, Uint, float, bool})
"""Types that a key can have."""


class _BoolKey:
    """What stands in a `BoolMap` for the key `true` or `false`."""

    __slots__ = ("value",)

    def __init__(self, value: bool) -> None:
        self.value = value


_STORED: Final = (_BoolKey(False), _BoolKey(True))


def _stored(key: Any) -> Any:
    return _STORED[key] if type(key) is bool else key


@cel_type("map")
class BoolMap(dict[Any, Any]):
    """A map that has bool keys. To the outside the keys are `True` and `False`."""

    __slots__ = ()

    def __init__(self, entries: Iterable[tuple[Any, Any]] = ()) -> None:
        super().__init__((_stored(key), value) for key, value in entries)

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(_stored(key))

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(_stored(key), value)

    def __contains__(self, key: object) -> bool:
        return super().__contains__(_stored(key))

    def __iter__(self) -> Iterator[Any]:
        return (key.value if type(key) is _BoolKey else key for key in super().__iter__())

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of the key, or the default."""
        return super().get(_stored(key), default)

    def items(self) -> Any:
        """Keys with their values."""
        return zip(self, self.values(), strict=True)


MAPS: Final = frozenset({dict, BoolMap})
"""Python types that are maps in CEL."""


def find(container: dict[Any, Any], key: Any) -> Any:
    """The value of the key, or MISSING."""
    kind = type(key)
    if kind is bool:
        return container.get(key, MISSING) if type(container) is BoolMap else MISSING
    return container.get(key, MISSING) if kind in KEYS else MISSING


def make_map(entries: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    """The map of a literal. A key written twice keeps its last value, as in cel-go.

    Raises CelError for a key of a type that no key has.
    """
    pairs = list(entries)
    kinds = {type(key) for key, _ in pairs}
    if not kinds <= KEYS:
        wrong = next(key for key, _ in pairs if type(key) not in KEYS)
        raise CelError(f"unsupported map key: {show(wrong)}")
    return BoolMap(pairs) if bool in kinds else dict(pairs)


def insert(container: dict[Any, Any], key: Any, value: Any) -> dict[Any, Any]:
    """Add one entry to a map that is being built; the map to go on with is what is returned.

    Raises CelError when the key is there already, or is of a type that no key has.
    """
    if find(container, key) is not MISSING:
        raise CelError(f"insert failed: key {show(key)} already exists")
    if type(key) not in KEYS:
        raise CelError(f"unsupported map key: {show(key)}")
    if type(key) is bool and type(container) is dict:
        return BoolMap([*container.items(), (key, value)])
    container[key] = value
    return container
