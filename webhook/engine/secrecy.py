"""What must never be shown: the values of Secrets, and the fields that a policy calls sensitive."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from webhook.model.path import Path, parse
from webhook.model.policy import Policy
from webhook.model.request import Object

_SECRET: Final[tuple[Path, ...]] = (
    ("data",),
    ("stringData",),
    ("metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"),
)
"""Where a Secret holds its values; kubectl's annotation repeats them."""

_ANY: Final = "*"
"""Stands in a path that an expression reads for an index or key that only the object decides."""


def conceals(policy: Policy, obj: Object, path: Path) -> bool:
    """Is what stands at `path` hidden, or does it hold something that is."""
    return any(_overlap(path, one) for one in hidden(obj, sensitive(policy)))


def hidden(obj: Object, sensitive: Iterable[Path]) -> tuple[Path, ...]:
    """Give the places of an object that are never shown: those that are `sensitive`, and a Secret's values."""
    return (*sensitive, *(_SECRET if _is_secret(obj) else ()))


def may_tell(policy: Policy, obj: Object, reads: Iterable[Path]) -> bool:
    """Can what an expression computes tell something that is hidden.

    Where a Secret is in play, every computed text might: only literal ones are shown. Otherwise the
    fields that the expression reads decide.
    """
    read = (*policy.lookups, *((policy.params,) if policy.params else ()))
    if _is_secret(obj) or any(one.kind == "Secret" for one in read):
        return True
    fields = sensitive(policy)
    return bool(fields) and any(_overlap(path, one) for path in reads for one in fields)


def _is_secret(obj: Object) -> bool:
    return obj.get("kind") == "Secret" and obj.get("apiVersion") == "v1"


def sensitive(policy: Policy) -> tuple[Path, ...]:
    """Give the fields that a policy calls sensitive."""
    return tuple(parse(field) for field in policy.sensitive_fields)


def _overlap(path: Path, hidden: Path) -> bool:
    """Is one of them a parent of the other, or the same."""
    return all(a in (b, _ANY) for a, b in zip(path, hidden, strict=False))
