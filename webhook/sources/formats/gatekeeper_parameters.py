"""The parameters of a constraint, as the expressions of its template read them."""

from __future__ import annotations

import json
from typing import Any


def literal(value: Any) -> str:
    """Write a JSON value in CEL, where entries of one list or map may have any type."""
    if isinstance(value, dict):
        return f"dyn({{{', '.join(f'{_text(key)}: {literal(part)}' for key, part in value.items())}}})"
    if isinstance(value, list):
        return f"dyn([{', '.join(map(literal, value))}])"
    return f"dyn({_text(value) if isinstance(value, str) else json.dumps(value)})"


def defaulted(value: Any, schema: Any) -> Any:
    """Add what a schema says of properties that are not there, at every depth."""
    if not isinstance(schema, dict):
        return value
    if isinstance(value, list):
        return [defaulted(part, schema.get("items")) for part in value]
    if not isinstance(value, dict):
        return value
    properties = schema.get("properties")
    every_property = properties.items() if isinstance(properties, dict) else ()
    known = {key: part for key, part in every_property if isinstance(part, dict)}
    defaults = {key: part["default"] for key, part in known.items() if "default" in part}
    every = known.get if known else lambda _: schema.get("additionalProperties")
    return {key: defaulted(part, every(key)) for key, part in {**defaults, **value}.items()}


def _text(text: str) -> str:
    """Write a string; a character that JSON writes as two would be two in CEL."""
    return json.dumps(text, ensure_ascii=False)
