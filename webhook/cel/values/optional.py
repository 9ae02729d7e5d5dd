"""Optional values: `object.?spec`, `list[?0]`, `optional.of(x)`, `optional.none()`."""

from __future__ import annotations

from typing import Any, Final, Self

from webhook.cel.errors import CelError
from webhook.cel.values.lookup import lookup
from webhook.cel.values.maps import MISSING
from webhook.cel.values.types import cel_type


@cel_type("optional_type")
class Optional:
    """A value that may be absent: `Optional.of(value)` or `NONE`.

    Absent is not null: `Optional.of(None)` has a value.
    """

    __slots__ = ("_value",)

    def __init__(self) -> None:
        self._value: Any = MISSING

    @classmethod
    def of(cls, value: Any) -> Self:
        """The optional that has this value."""
        optional = cls()
        optional._value = value
        return optional

    @property
    def has_value(self) -> bool:
        """Is there a value."""
        return self._value is not MISSING

    @property
    def value(self) -> Any:
        """The value. Raises CelError when there is none."""
        if self._value is MISSING:
            raise CelError("optional.none() dereference")
        return self._value

    def __getitem__(self, key: Any) -> Optional:
        """Select or index: from an optional that gives an optional, so `a.?b.c` is none without a `b`."""
        return optional_index(self, key)

    def __repr__(self) -> str:
        return f"Optional.of({self._value!r})" if self.has_value else "NONE"


NONE: Final = Optional()
"""`optional.none()`."""


def optional_index(value: Any, key: Any) -> Optional:
    """`value[?key]` and `value.?key`: none where the key is missing, or `value` is null or a scalar.

    Raises CelError for a list and a key that is no integral number.
    """
    if type(value) is Optional:
        if not value.has_value:
            return NONE
        value = value.value
    found = lookup(value, key)
    return NONE if found is MISSING else Optional.of(found)


def optional_select(value: Any, field: str) -> Optional:
    """`value.?field`."""
    if type(value) is dict:
        found = value.get(field, MISSING)
        return NONE if found is MISSING else Optional.of(found)
    return optional_index(value, field)
