"""Fingerprints of lazy values: two variables with the same one have the same value in a review."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from typing import Any

from webhook.cel.tree import Ident, Node


def of_outside(key: str) -> str:
    """Give the fingerprint of something that the engine fetches by `key`."""
    return _digest(("outside", key))


def of_expression(node: Node, names: Mapping[str, str]) -> str:
    """Give the fingerprint of a variable; `names` are the fingerprints of the lazy names it may read."""
    return _digest(_shape(node, names))


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


def _digest(shape: Any) -> str:
    return blake2b(repr(shape).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
