"""A schema → a value that it allows, or nearly: `conform` is asked about it anyway."""

from __future__ import annotations

from random import Random
from typing import Any, Final

from webhook.admission.structures import Structure

_DEEPEST: Final = 4
_WORDS: Final = ("", "a", "default", "container", "A-b.c/d", "nvidia.com/gpu", "10DE:2236", "1.5", "100Mi", "null", "é")
_NUMBERS: Final = (0, 1, -1, 2, 7, 65536, 2**31, 2**53)


def grown(random: Random, structure: Structure, depth: int = 0) -> Any:
    """Make a value; the deeper it is, the less there is in it."""
    schema = structure.schema
    if values := schema.get("enum"):
        return random.choice(values)
    if structure.is_map and (structure.fields or schema.get("type") == "object"):
        return _map(random, structure, depth)
    if structure.is_list and schema.get("type") == "array":
        number = random.randint(0, 2) if depth < _DEEPEST else 0
        return [grown(random, structure.items, depth + 1) for _ in range(number)]
    return _scalar(random, schema.get("type"))


def _map(random: Random, structure: Structure, depth: int) -> dict[str, Any]:
    needed = set(structure.schema.get("required", ()))
    names = [name for name in structure.fields if name in needed or (depth < _DEEPEST and random.random() < 0.3)]
    if not structure.fields and depth < _DEEPEST:
        names = random.sample(_WORDS[1:], random.randint(0, 2))
    found = ((name, structure.field(name)) for name in names)
    return {name: grown(random, inner, depth + 1) for name, inner in found if inner}


def _scalar(random: Random, kind: Any) -> Any:
    match kind:
        case "string":
            return random.choice(_WORDS)
        case "integer":
            return random.choice(_NUMBERS)
        case "number":
            return random.choice((*_NUMBERS, 0.5))
        case "boolean":
            return random.random() < 0.5
        case _:
            return random.choice((*_WORDS, *_NUMBERS, True, None, {}, []))
