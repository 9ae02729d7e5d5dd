"""Fingerprints of lazy values: two variables with the same one have the same value in a review."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from typing import Any

from webhook.cel.tree import Ident, Node


def fingerprint(node: Node, names: Mapping[str, str]) -> str:
    """Give the fingerprint of a variable; `names` are the fingerprints of the lazy names it may read."""
    shape = repr(_shape(node, names))
    return blake2b(shape.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _shape(part: Any, names: Mapping[str, str]) -> Any:
    """Give a tree as plain tuples, without ids, and with the lazy names replaced by their fingerprints."""
    if isinstance(part, Ident) and part.name in names:
        return ("slot", names[part.name])
    if is_dataclass(part):
        inner = (_shape(getattr(part, f.name), names) for f in fields(part) if f.name != "id")
        return (type(part).__name__, *inner)
    if isinstance(part, tuple):
        return tuple(_shape(item, names) for item in part)
    return sorted(part) if isinstance(part, frozenset) else part
