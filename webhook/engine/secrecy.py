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


def concealed_paths(policy: Policy, obj: Object) -> tuple[Path, ...]:
    """List the paths whose values stay hidden for this object."""
    own = tuple(parse(field) for field in policy.sensitive_fields)
    secret = obj.get("kind") == "Secret" and obj.get("apiVersion") == "v1"
    return (*own, *_SECRET) if secret else own


def conceals(policy: Policy, obj: Object, path: Path) -> bool:
    """Is what stands at `path` hidden, or does it hold something that is."""
    return any(_overlap(path, hidden) for hidden in concealed_paths(policy, obj))


def reads_concealed(policy: Policy, obj: Object, reads: Iterable[Path]) -> bool:
    """Can an expression that reads these paths tell something that is hidden."""
    hidden = concealed_paths(policy, obj)
    return bool(hidden) and any(_overlap(path, one) for path in reads for one in hidden)


def _overlap(path: Path, hidden: Path) -> bool:
    """Is one of them a parent of the other, or the same."""
    return all(a == b for a, b in zip(path, hidden, strict=False))
