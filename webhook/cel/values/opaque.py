"""Values that expressions can only hand to functions: what the types of Kubernetes' libraries have in common."""

from __future__ import annotations

from typing import Any

from webhook.cel.errors import CelError


class Opaque:
    """A value of a library's type: it has no fields, no order and no size, and is equal to its own kind only."""

    __slots__ = ()

    def equals(self, other: Any) -> bool:
        """`self == other`. Raises CelError when the other is of another type, as the API server does; null is not."""
        if other is None:
            return False
        if type(other) is not type(self):
            raise CelError("no such overload")
        return self._equals(other)

    def _equals(self, other: Any) -> bool:
        return bool(self == other)
